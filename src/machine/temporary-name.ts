import { lstatSync, readdirSync, unlinkSync } from 'node:fs'
import { createProcessTag, hasExited, parseProcessTag } from './process-tag.ts'

const PREFIX = '.coppice-'
const SUFFIX = '.tmp'
/** Names of earlier versions, without a usable tag of their process. */
const LEGACY_TAG = /^(?:[0-9a-f]{24}|\d+\.[\d-]+\.[0-9a-f]+\.[0-9a-f]+)$/
/** Age after which a file of an unknown writer, such as another machine, counts as stale. */
const UNKNOWN_OWNER_TTL_MS = 24 * 60 * 60 * 1000

/** A name for a file that is being written and gets its real one when it is whole, unlike any other. */
export function createTemporaryName(): string {
  return `${PREFIX}${createProcessTag()}${SUFFIX}`
}

/** Such names are ours: not listed, not found and not given to callers, even when their writer is dead. */
export function isTemporaryName(name: string): boolean {
  const mark = findTag(name)
  return mark !== undefined && (LEGACY_TAG.test(mark) || parseProcessTag(mark) !== undefined)
}

/**
 * Removes from a directory what writers left who were killed. What cannot be removed stays, and what a living process
 * may be writing.
 *
 * @param directory a path to list, and to put names behind.
 */
export function removeAbandonedFiles(directory: string): void {
  for (const name of listNames(directory)) {
    if (!isTemporaryName(name)) continue
    const path = `${directory}/${name}`
    try {
      if (isAbandoned(name, path)) unlinkSync(path)
    } catch {
      // Gone by now, or somebody else's: nobody sees it either way.
    }
  }
}

/** Whoever may not list a directory may still write into it. */
function listNames(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

function isAbandoned(name: string, path: string): boolean {
  const maker = parseProcessTag(findTag(name) ?? '')
  const verdict = maker && hasExited(maker)
  if (verdict !== undefined) return verdict
  // Not the time of its content, which may be set to any before it gets its name.
  return Date.now() - lstatSync(path).ctimeMs > UNKNOWN_OWNER_TTL_MS
}

function findTag(name: string): string | undefined {
  if (!name.startsWith(PREFIX) || !name.endsWith(SUFFIX)) return undefined
  return name.slice(PREFIX.length, -SUFFIX.length)
}
