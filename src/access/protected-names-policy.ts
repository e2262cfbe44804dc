import { join, relativeTo } from '../vfs/index.ts'
import { callerName } from './caller.ts'
import type { Policy } from './policy.ts'
import { ProtectedNames } from './protected-names.ts'

/** A directory of the namespace below which names are protected. */
export interface ProtectedRoot {
  readonly root: string
  /** The path that patterns with a leading slash match in place of `root`: that on this machine, if it is mounted there. */
  readonly original: string
}

const EVERYWHERE: readonly ProtectedRoot[] = [{ root: '/', original: '/' }]

/**
 * Protects names that only the system may create, change or remove, whether or not they exist yet, and in any
 * spelling: `.git`, `*.pem`. A directory that contains one is neither moved nor removed. Throws EINVAL for a bad pattern.
 *
 * @param patterns as `ProtectedNames` takes them.
 * @param roots where they are protected; everywhere when absent.
 */
export function protectedNamesPolicy(
  patterns: readonly string[],
  roots: readonly ProtectedRoot[] = EVERYWHERE,
): Policy {
  const names = new ProtectedNames(patterns)
  return {
    name: 'protected-names',
    judges: 'changes',
    judgesContents: (path) => roots.some(({ root }) => relativeTo(path, root) !== null),
    judge: ({ caller, access, path }) => {
      if (access === 'read') return null
      for (const { root, original } of roots) {
        const relative = relativeTo(path, root)
        const reason = relative === null ? undefined : names.findRefusal(join(original, relative))
        if (reason !== undefined) return `${callerName(caller)} may not change this: ${reason}`
      }
      return null
    },
  }
}
