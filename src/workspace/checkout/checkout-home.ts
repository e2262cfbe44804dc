import type { TreeFiles } from '../link/index.ts'

/** Subset of a home that checkouts need. */
export interface CheckoutHome {
  vaults(): Promise<readonly string[]>
  info(vault: string): Promise<{ readonly from?: { readonly vault: string }; readonly bytes: number }>
  fork(source: string, name: string): Promise<unknown>
  deleteVault(name: string): Promise<void>
  posix(name: string): Promise<TreeFiles>
  export(vault: string, directory: string, options?: { readonly signal?: AbortSignal }): Promise<unknown>
  /** Returns every path at which two vaults may differ. */
  listTouchedPaths(base: string, vault: string): Promise<readonly string[]>
}
