import { isWithin } from '../vfs/index.ts'
import { callerName } from './caller.ts'
import { foldPath } from './fold-name.ts'
import type { Policy } from './policy.ts'

/**
 * Places that nobody but the system changes: neither they nor what is below them, nor what holds them.
 * A path that some disk takes for the same (`/Docs` for `/docs`) is treated as the same.
 */
export function readOnlyPolicy(prefixes: readonly string[]): Policy {
  const places = prefixes.map((prefix) => ({ prefix, folded: foldPath(prefix) }))
  return {
    name: 'read-only',
    judges: 'changes',
    judge: ({ caller, access, op, path }) => {
      if (access === 'read') return null
      const at = foldPath(path)
      const around = places.find(({ folded }) => isWithin(at, folded))
      if (around !== undefined)
        return `${callerName(caller)} may only read ${around.prefix}; copy it elsewhere to change it`
      const held = op === 'mkdir' ? undefined : places.find(({ folded }) => isWithin(folded, at))
      if (held === undefined) return null
      return `${callerName(caller)} may not replace, move or remove what holds ${held.prefix}, which is read-only`
    },
  }
}
