import { split } from '../vfs/index.ts'
import { callerName } from './caller.ts'
import { folded } from './name-twins.ts'
import type { Policy } from './policy.ts'

/**
 * Names that nobody but the system gives, changes or takes away, wherever they are and whether or not they exist yet:
 * `.git`, `.env`. Names that some disk takes for the same (`.GIT`, `.ｇｉｔ`, `.git.`) are treated as the same.
 * A directory that holds one can still be moved or removed as a whole.
 */
export function protectedNames(names: readonly string[]): Policy {
  const guarded = new Set(names.map(folded))
  return {
    name: 'protected-names',
    judges: 'changes',
    judge: ({ caller, access, path }) => {
      if (access === 'read') return null
      const name = split(path).find((part) => guarded.has(folded(part)))
      if (name === undefined) return null
      return `${callerName(caller)} may not change '${name}': the name is protected; use another one`
    },
  }
}
