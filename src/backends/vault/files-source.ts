import type { ExtraRecords, OpenInodes, OperationPlan, Provenance, VaultFiles } from '../../store/index.ts'

/** Where a vault's files come from, and where its mutations go: a log, or an earlier tree that takes none. */
export interface FilesSource {
  /** What is open of them, for callers that cannot wait. */
  readonly openInodes: OpenInodes
  readFiles(): VaultFiles
  submit(plan: OperationPlan, by?: Provenance, besides?: ExtraRecords): Promise<void>
  /** The same, done when it returns. Only where the engine lets nobody wait. */
  submitSync(plan: OperationPlan, by?: Provenance): void
}
