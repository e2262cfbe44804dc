import { findSkipReason } from './host-fault.ts'
import type { ImportOptions, ImportReport, Skipped } from './import-report.ts'

/** Counts what an import did, reports its progress, and collects the entries that it skipped. */
export class ImportTally {
  readonly counts = { files: 0, directories: 0, links: 0, bytes: 0, unchanged: 0, ignored: 0 }
  readonly #skipped: Skipped[] = []
  readonly #onProgress: ImportOptions['onProgress']

  constructor({ onProgress }: ImportOptions) {
    this.#onProgress = onProgress
  }

  addFile(bytes: number): void {
    this.counts.files++
    this.counts.bytes += bytes
  }

  skip(path: string, reason: string): void {
    this.#skipped.push({ path, reason })
  }

  /** Skips an entry whose import failed, because it cannot be read or stored. Throws any other error. */
  skipOrThrow(path: string, error: unknown): void {
    const reason = findSkipReason(error)
    if (reason === undefined) throw error
    this.skip(path, reason)
  }

  reportProgress(): void {
    const { files, links, unchanged, bytes } = this.counts
    this.#onProgress?.({ done: files + links + unchanged, bytes })
  }

  toReport(): ImportReport {
    return { ...this.counts, skipped: this.#skipped }
  }
}
