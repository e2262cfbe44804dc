import { isWithin } from '../vfs/index.ts'
import { callerName } from './caller.ts'
import { foldPath } from './fold-name.ts'
import type { Policy } from './policy.ts'

/**
 * Makes paths read-only for everyone but the system, with everything below them. The directories above cannot be
 * replaced, moved or removed either.
 * A path that some disk takes for the same (`/Docs` for `/docs`) is treated as the same.
 */
export function readOnlyPolicy(prefixes: readonly string[]): Policy {
  const folders = prefixes.map((prefix) => ({ prefix, folded: foldPath(prefix) }))
  return {
    name: 'read-only',
    judges: 'changes',
    judge: ({ caller, access, op, path }) => {
      if (access === 'read') return null
      const foldedPath = foldPath(path)
      const containing = folders.find(({ folded }) => isWithin(foldedPath, folded))
      if (containing !== undefined)
        return `${callerName(caller)} may only read ${containing.prefix}; copy it elsewhere to change it`
      const contained =
        op === 'mkdir' ? undefined : folders.find(({ folded }) => isWithin(folded, foldedPath))
      if (contained === undefined) return null
      return `${callerName(caller)} may not replace, move or remove a directory that contains ${contained.prefix}, which is read-only`
    },
  }
}
