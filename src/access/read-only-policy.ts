import { isWithin } from '../vfs/index.ts'
import { callerName } from './caller.ts'
import { foldPath } from './fold-name.ts'
import type { Policy } from './policy.ts'

/**
 * Makes paths read-only for everyone but the system, with everything below them and the directories above.
 * A path that some disk takes for the same (`/Docs` for `/docs`) is treated as the same.
 */
export function readOnlyPolicy(prefixes: readonly string[]): Policy {
  const folders = prefixes.map((prefix) => ({ prefix, folded: foldPath(prefix) }))
  return {
    name: 'read-only',
    judges: 'changes',
    judge: ({ caller, access, op, path }) => {
      if (access === 'read') return null
      const at = foldPath(path)
      const around = folders.find(({ folded }) => isWithin(at, folded))
      if (around !== undefined)
        return `${callerName(caller)} may only read ${around.prefix}; copy it elsewhere to change it`
      const inner = op === 'mkdir' ? undefined : folders.find(({ folded }) => isWithin(folded, at))
      if (inner === undefined) return null
      return `${callerName(caller)} may not replace, move or remove a directory that contains ${inner.prefix}, which is read-only`
    },
  }
}
