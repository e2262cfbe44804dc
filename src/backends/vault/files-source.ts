import type { ExtraRecords, OpenInodes, OperationPlan, Provenance, VaultFiles } from '../../store/index.ts'

/** The source of a vault's files and the target of its mutations: a log, a fork in memory, or a tree that accepts none. */
export interface FilesSource {
  /** The open inodes, which stay readable after their removal. */
  readonly openInodes: OpenInodes
  readFiles(): VaultFiles
  submit(plan: OperationPlan, provenance?: Provenance, extraRecords?: ExtraRecords): Promise<void>
  /** Submits synchronously. Only on a synchronous engine. */
  submitSync(plan: OperationPlan, provenance?: Provenance): void
}
