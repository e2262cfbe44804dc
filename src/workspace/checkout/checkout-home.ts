import type { TreeFiles } from '../link/index.ts'

/** Files that are checked out so far. */
interface CheckoutProgress {
  readonly done: number
  readonly bytes: number
  readonly total?: number
}

/** Options of a checkout. */
export interface CheckoutOptions {
  readonly signal?: AbortSignal | undefined
  /** Runs the part that takes a time proportional to the number of files, such as below a progress bar. */
  readonly watch?: CheckoutWatch | undefined
}

export type CheckoutWatch = <Result>(
  work: (report: (progress: CheckoutProgress) => void) => Promise<Result>,
) => Promise<Result>

/** Subset of a home that checkouts need. */
export interface CheckoutHome {
  vaults(): Promise<readonly string[]>
  info(
    vault: string,
  ): Promise<{ readonly from?: { readonly vault: string }; readonly files: number; readonly bytes: number }>
  fork(source: string, name: string): Promise<unknown>
  deleteVault(name: string): Promise<void>
  posix(name: string): Promise<TreeFiles>
  export(
    vault: string,
    directory: string,
    options?: {
      /** True for a directory that does not exist, and that nobody uses before the export is complete. */
      readonly isNew?: boolean
      readonly signal?: AbortSignal
      readonly onProgress?: (progress: CheckoutProgress) => void
    },
  ): Promise<unknown>
  /** Returns every path at which two vaults may differ. */
  listTouchedPaths(base: string, vault: string): Promise<readonly string[]>
}
