import { HostFs } from '../backends/host/index.ts'
import { HostFiles, type HostHooks } from '../tools/index.ts'
import type { LazyHome } from './lazy-home.ts'

export interface HostAccess {
  /** Names and globs that are never written. */
  readonly protect: readonly string[]
  readonly hooks?: HostHooks | undefined
  /** The home, which stays closed to agents whatever is allowed. */
  readonly home: LazyHome
}

/** Returns a function that opens directories of this machine for tools, with the hooks and protected names of a namespace. */
export function createHostOpener({
  protect,
  hooks = {},
  home,
}: HostAccess): (directories: readonly string[]) => HostFiles {
  const open = (directory: string) => new HostFs(directory, home.hostOptions)
  return (allow) => new HostFiles({ allow, open, hooks, protect })
}
