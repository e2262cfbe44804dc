import { randomBytes } from 'node:crypto'

const PREFIX = '.coppice-'
const PATTERN = /^\.coppice-[0-9a-f]{24}\.tmp$/

/**
 * A name for a file that is being written, unlike any other.
 * Such names are this backend's own: not listed, not found and not given to callers, even when their writer is dead.
 */
export function temporaryName(): string {
  return `${PREFIX}${randomBytes(12).toString('hex')}.tmp`
}

export function isTemporary(name: string): boolean {
  return name.startsWith(PREFIX) && PATTERN.test(name)
}
