import { VfsError } from './error.ts'

/**
 * Throws EINVAL unless the value is an object of options. Where all options may be absent, a program without types would
 * otherwise pass a path that nobody reads.
 *
 * @param toCall formats the correct call with the value.
 */
export function assertOptions(value: unknown, op: string, toCall: (value: string) => string): void {
  if (typeof value === 'object' && value !== null && !(value instanceof URL)) return
  const call = toCall(String(value))
  const path = typeof value === 'string' ? value : '/'
  throw new VfsError('EINVAL', path, {
    op,
    detail: `${call.slice(0, call.indexOf('('))} takes options: ${call}`,
  })
}
