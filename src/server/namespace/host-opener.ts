import { realpathSync } from 'node:fs'
import { HostFs } from '../../backends/host/index.ts'
import { HostFiles, type HostHooks } from '../../tools/index.ts'
import { isOwnFile, isStoreFile } from '../config/index.ts'
import type { HomeDoor } from './home-door.ts'

const REFUSAL = 'Coppice keeps its own settings and files there; use vfs:/// paths for what is in it'

export interface HostAccess {
  /** Names and globs that are never written. */
  readonly protect: readonly string[]
  readonly hooks?: HostHooks | undefined
  /** The home, the directory of which exists, and in which no tool writes, whatever is allowed. */
  readonly door: HomeDoor
}

/** Opens directories of this machine for tools, with the hooks and protected names of a namespace. */
export function hostOpener({
  protect,
  hooks = {},
  door,
}: HostAccess): (directories: readonly string[]) => HostFiles {
  const guarded = door.path === undefined ? hooks : sparing(door.path, hooks)
  const open = (directory: string) => new HostFs(directory, door.hostOptions)
  return (allow) => new HostFiles({ allow, open, hooks: guarded, protect })
}

/** Hooks that refuse to change what belongs to a home, and to read its store, before they ask the others. */
function sparing(home: string, hooks: HostHooks): HostHooks {
  const real = realpathSync(home)
  return {
    preRead: (path, ctx) => (isStoreFile(real, path) ? REFUSAL : hooks.preRead?.(path, ctx)),
    preWrite: (path, ctx) => (isOwnFile(real, path) ? REFUSAL : hooks.preWrite?.(path, ctx)),
  }
}
