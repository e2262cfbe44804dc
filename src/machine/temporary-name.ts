import { lstatSync, readdirSync, unlinkSync } from 'node:fs'
import { isOver, makerOf, ownMark } from './maker.ts'

const PREFIX = '.coppice-'
const SUFFIX = '.tmp'
/** Names of earlier versions, which do not tell their maker, or not so that we could look for it. */
const UNMARKED = /^(?:[0-9a-f]{24}|\d+\.[\d-]+\.[0-9a-f]+\.[0-9a-f]+)$/
/** How long a file is left to a writer of whom nothing can be known, such as one of another machine. */
const UNKNOWN_MAKER_MS = 24 * 60 * 60 * 1000

/** A name for a file that is being written and gets its real one when it is whole, unlike any other. */
export function temporaryName(): string {
  return `${PREFIX}${ownMark()}${SUFFIX}`
}

/** Such names are ours: not listed, not found and not given to callers, even when their writer is dead. */
export function isTemporary(name: string): boolean {
  const mark = markOf(name)
  return mark !== undefined && (UNMARKED.test(mark) || makerOf(mark) !== undefined)
}

/**
 * Removes from a directory what writers left who were killed. What cannot be removed stays, and what a living process
 * may be writing.
 *
 * @param directory a path to list, and to put names behind.
 */
export function removeAbandoned(directory: string): void {
  for (const name of namesIn(directory)) {
    if (!isTemporary(name)) continue
    const path = `${directory}/${name}`
    try {
      if (isAbandoned(name, path)) unlinkSync(path)
    } catch {
      // Gone by now, or somebody else's: nobody sees it either way.
    }
  }
}

/** Whoever may not list a directory may still write into it. */
function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

function isAbandoned(name: string, path: string): boolean {
  const maker = makerOf(markOf(name) ?? '')
  const verdict = maker && isOver(maker)
  if (verdict !== undefined) return verdict
  // Not the time of its content, which may be set to any before it gets its name.
  return Date.now() - lstatSync(path).ctimeMs > UNKNOWN_MAKER_MS
}

function markOf(name: string): string | undefined {
  if (!name.startsWith(PREFIX) || !name.endsWith(SUFFIX)) return undefined
  return name.slice(PREFIX.length, -SUFFIX.length)
}
