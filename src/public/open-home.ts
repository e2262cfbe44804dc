import type { Home, HomeOptions } from '../backends/vault/index.ts'

/**
 * Opens a home, and creates it if it is missing; without a path it lives in memory. Close it when done.
 * EINVAL for an engine that does not exist or that is not the one of the home.
 *
 * The store is loaded on the first call, so that a program that opens no home starts without it.
 *
 * @example
 * ```ts
 * const home = await openHome() // { path: '…' } keeps it on disk
 * const vault = await home.createVault('base')
 * await vault.write('/notes.md', 'remember\n')
 * await home.close()
 * ```
 */
export async function openHome(options: HomeOptions = {}): Promise<Home> {
  const store = await import('../backends/vault/index.ts')
  return store.openHome(options)
}
