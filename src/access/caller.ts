import { type CallContext, type Caller, VfsError } from '../vfs/index.ts'

const CONTEXT_NAME = /^(?!-)[A-Za-z0-9_-]+$/
const MAX_NAME_LENGTH = 64

/** The reserved caller: no policy restricts it. */
export const SYSTEM: Caller = Object.freeze({ kind: 'system' })

/** The context of a call made by the system. */
export const asSystem: CallContext = Object.freeze({ caller: SYSTEM })

/** Returns the caller for a context. Throws EINVAL for an invalid or reserved name. */
export function contextCaller(name: string): Caller {
  return { kind: 'context', context: assertContextName(name) }
}

/** Returns the context a caller acts for; undefined for the system and for calls without a caller. */
export function getCallerContext(caller: Caller | undefined): string | undefined {
  return caller === undefined || caller.kind === 'system' ? undefined : caller.context
}

/** Formats a caller for messages. */
export function callerName(caller: Caller | undefined): string {
  if (caller === undefined) return 'a caller without a name'
  if (caller.kind === 'system') return 'the system'
  return caller.kind === 'context' ? `'${caller.context}'` : `process ${caller.pid} of '${caller.context}'`
}

/** Returns a valid context name unchanged. Throws EINVAL for anything else, including 'system' in any case. */
export function assertContextName(name: string): string {
  const problem = findNameProblem(name)
  if (problem === undefined) return name
  throw new VfsError('EINVAL', '/home', {
    op: 'context',
    detail: `'${name}' is not a valid context name: ${problem}`,
  })
}

/** True for a valid context name. */
export function isContextName(name: string): boolean {
  return findNameProblem(name) === undefined
}

function findNameProblem(name: string): string | undefined {
  if (!CONTEXT_NAME.test(name)) return 'use letters, digits, - and _, and do not start with -'
  if (name.length > MAX_NAME_LENGTH) return `it is longer than ${MAX_NAME_LENGTH} characters`
  return name.toLowerCase() === 'system' ? 'it is reserved' : undefined
}
