import type { Besides, Files, OpenInodes, Plan, Provenance } from '../../store/index.ts'

/** Where a vault's files come from, and where its mutations go: a log, or an earlier tree that takes none. */
export interface FilesSource {
  /** What is open of them, for callers that cannot wait. */
  readonly opens: OpenInodes
  read(): Files
  submit(plan: Plan, by?: Provenance, besides?: Besides): Promise<void>
  /** The same, done when it returns. Only where the engine lets nobody wait. */
  submitNow(plan: Plan, by?: Provenance): void
}
