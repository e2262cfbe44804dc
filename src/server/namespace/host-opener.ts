import { existsSync, realpathSync } from 'node:fs'
import { HostFs } from '../../backends/host/index.ts'
import { HostFiles, type HostHooks } from '../../tools/index.ts'
import { isOwnFile } from '../config/index.ts'

const REFUSAL = 'Coppice keeps its own settings and files there; use vfs:/// paths for what is in it'

export interface HostAccess {
  /** Globs of names that are never written; the usual ones when absent. */
  readonly protect?: readonly string[] | undefined
  readonly hooks?: HostHooks | undefined
  /** The directory of the home, which no tool writes in, whatever is allowed. */
  readonly home: string | undefined
}

/** Opens directories of this machine for tools, with the hooks and protected names of a namespace. */
export function hostOpener({
  protect,
  hooks = {},
  home,
}: HostAccess): (directories: readonly string[]) => HostFiles {
  const guarded = home === undefined ? hooks : sparing(home, hooks)
  return (allow) =>
    new HostFiles({
      allow,
      open: (directory) => new HostFs(directory),
      hooks: guarded,
      ...(protect !== undefined && { protect }),
    })
}

/** Hooks that refuse writes to what belongs to a home before they ask the others. */
function sparing(home: string, hooks: HostHooks): HostHooks {
  return {
    ...(hooks.preRead && { preRead: (path, ctx) => hooks.preRead?.(path, ctx) }),
    preWrite: (path, ctx) => {
      // Looked up each time: in a home of plain files its directory may not have been there at the start.
      const real = existsSync(home) ? realpathSync(home) : home
      return isOwnFile(real, path) ? REFUSAL : hooks.preWrite?.(path, ctx)
    },
  }
}
