import { lstatSync, readdirSync, unlinkSync } from 'node:fs'
import { createProcessTag, hasExited, parseProcessTag } from './process-tag.ts'

const PREFIX = '.coppice-'
const SUFFIX = '.tmp'
/** Names of earlier versions, without a usable tag of their process. */
const LEGACY_TAG = /^(?:[0-9a-f]{24}|\d+\.[\d-]+\.[0-9a-f]+\.[0-9a-f]+)$/
/** Age after which a file of an unknown writer, such as another machine, counts as stale. */
const UNKNOWN_OWNER_TTL_MS = 24 * 60 * 60 * 1000

/** Creates a unique name for a file that gets its final name when it is complete. */
export function createTemporaryName(): string {
  return `${PREFIX}${createProcessTag()}${SUFFIX}`
}

/** Reports whether a name is temporary. File systems hide such files from callers, even after their writer's end. */
export function isTemporaryName(name: string): boolean {
  const tag = findTag(name)
  return tag !== undefined && (LEGACY_TAG.test(tag) || parseProcessTag(tag) !== undefined)
}

/**
 * Removes temporary files of killed processes from a directory, and those of unknown writers after a day. Keeps those
 * of living processes, and those that cannot be removed.
 *
 * @param directory a path to which names can be appended.
 */
export function removeAbandonedFiles(directory: string): void {
  for (const name of listNames(directory)) {
    if (!isTemporaryName(name)) continue
    const path = `${directory}/${name}`
    try {
      if (isAbandoned(name, path)) unlinkSync(path)
    } catch {
      // Removed meanwhile, or another user's: it is hidden either way.
    }
  }
}

/** Lists a directory; empty if that fails: without the permission to read it, writing may still be allowed. */
function listNames(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

function isAbandoned(name: string, path: string): boolean {
  const writer = parseProcessTag(findTag(name) ?? '')
  const isExited = writer && hasExited(writer)
  if (isExited !== undefined) return isExited
  // Not `mtime`, which the writer may have set to any time.
  return Date.now() - lstatSync(path).ctimeMs > UNKNOWN_OWNER_TTL_MS
}

function findTag(name: string): string | undefined {
  if (!name.startsWith(PREFIX) || !name.endsWith(SUFFIX)) return undefined
  return name.slice(PREFIX.length, -SUFFIX.length)
}
