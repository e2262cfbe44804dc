/**
 * The API of the peers that the benchmark uses. The packages are installed only when a benchmark runs, so the type
 * check of a fresh clone cannot look into them; versions are exact in bench/package.json, and every result is verified.
 */
declare module 'memfs' {
  type NodePromises = typeof import('node:fs/promises')
  type NodeSync = typeof import('node:fs')

  /** A drop-in replacement for `node:fs`. */
  export interface IFs
    extends Pick<NodeSync, 'mkdirSync' | 'readdirSync' | 'readFileSync' | 'writeFileSync'> {
    readonly promises: Pick<NodePromises, 'mkdir' | 'open' | 'readdir' | 'readFile' | 'stat' | 'writeFile'>
  }

  export function memfs(): { readonly fs: IFs }
}

declare module '@zenfs/core' {
  type NodePromises = typeof import('node:fs/promises')
  type NodeSync = typeof import('node:fs')
  interface FileSystem {
    readonly uuid: string
  }

  /** A drop-in replacement for `node:fs`. */
  export const fs: Pick<NodeSync, 'mkdirSync' | 'readdirSync' | 'readFileSync' | 'writeFileSync'> & {
    readonly promises: Pick<NodePromises, 'mkdir' | 'open' | 'readdir' | 'readFile' | 'stat' | 'writeFile'>
  }
  export const InMemory: { create(options: object): FileSystem }
  export function configure(options: { disableAccessChecks: boolean }): Promise<void>
  export function configureSingle(options: { backend: typeof InMemory }): Promise<void>
  export function mount(mountPoint: string, fs: FileSystem): void
  export function umount(mountPoint: string): void
}

declare module 'sorted-btree' {
  class BTree<K, V> {
    constructor(entries: undefined, compare: (a: K, b: K) => number, maxNodeSize: number)
    get(key: K): V | undefined
    set(key: K, value: V): boolean
    clone(): BTree<K, V>
    forEachPair(visit: (key: K, value: V) => void): number
  }
  const commonJs: { readonly default: typeof BTree }
  export = commonJs
}
