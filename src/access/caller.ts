import { type CallContext, type Caller, VfsError } from '../vfs/index.ts'

const CONTEXT_NAME = /^(?!-)[A-Za-z0-9_-]+$/
const MAX_NAME_LENGTH = 64

/** The reserved caller: no policy restricts it. */
export const SYSTEM: Caller = Object.freeze({ kind: 'system' })

/** A call made by the system itself. */
export const asSystem: CallContext = Object.freeze({ caller: SYSTEM })

/** A context by its name. EINVAL for a name nobody may have. */
export function contextCaller(name: string): Caller {
  return { kind: 'context', context: assertContextName(name) }
}

/** Whose context a caller acts for; undefined for the system, and for nobody. */
export function getCallerContext(caller: Caller | undefined): string | undefined {
  return caller === undefined || caller.kind === 'system' ? undefined : caller.context
}

/** A caller as messages name it. */
export function callerName(caller: Caller | undefined): string {
  if (caller === undefined) return 'a caller without a name'
  if (caller.kind === 'system') return 'the system'
  return caller.kind === 'context' ? `'${caller.context}'` : `process ${caller.pid} of '${caller.context}'`
}

/** Accepts the name of a context and returns it; anything else, 'system' in any case included, is EINVAL. */
export function assertContextName(name: string): string {
  const problem = findNameProblem(name)
  if (problem === undefined) return name
  throw new VfsError('EINVAL', '/home', { op: 'context', detail: `'${name}' is no context name: ${problem}` })
}

/** Whether a context may have this name. */
export function isContextName(name: string): boolean {
  return findNameProblem(name) === undefined
}

function findNameProblem(name: string): string | undefined {
  if (!CONTEXT_NAME.test(name)) return 'use letters, digits, - and _, and do not start with -'
  if (name.length > MAX_NAME_LENGTH) return `it is longer than ${MAX_NAME_LENGTH} characters`
  return name.toLowerCase() === 'system' ? 'it is reserved' : undefined
}
