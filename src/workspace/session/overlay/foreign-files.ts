import { lstatSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** Messages for EOVERFLOW in programs of C, Python, Node and others. */
const OVERFLOW = /EOVERFLOW|value too large for (?:defined )?data type/i
const MAX_LINES = 100
const MAX_NAMED = 5

interface ForeignFile {
  readonly path: string
  readonly uid: number
  readonly gid: number
}

/**
 * Formats a hint for a command that failed because an overlay of an ordinary user cannot copy files of other users.
 * Names such files, by paths in the command's error output. Undefined if the output has no such error.
 */
export function formatForeignFilesHint(output: Uint8Array, root: string, cwd: string): string | undefined {
  const lines = Buffer.from(output)
    .toString('utf8')
    .split('\n')
    .filter((line) => OVERFLOW.test(line))
  if (lines.length === 0) return undefined
  const found = new Map<string, ForeignFile>()
  for (const line of lines.slice(0, MAX_LINES)) {
    for (const word of splitWords(line)) {
      const foreign = findForeign(resolve(join(root, cwd), word), root)
      if (foreign !== undefined && found.size < MAX_NAMED) found.set(foreign.path, foreign)
    }
  }
  const named = [...found.values()].map(({ path, uid, gid }) => `${path} (uid ${uid}, gid ${gid})`)
  const subject = named.length === 0 ? 'what the command wanted to change' : named.join(', ')
  return (
    `coppice: ${subject} belongs to another user or group, and an overlay of an ordinary user cannot copy that. ` +
    "Use a session of kind 'dir', which copies the whole directory first, or change the owner of the files\n"
  )
}

/** Splits a line into possible paths: messages put quotes and colons around them. */
function splitWords(line: string): string[] {
  return line.split(/[\s'"`‘’:,()]+/).filter((word) => word !== '')
}

/** Finds the path, or its nearest directory within the root, that belongs to another user or group. */
function findForeign(path: string, root: string): ForeignFile | undefined {
  for (let current = path; current.startsWith(`${root}/`); current = dirname(current)) {
    const { uid, gid } = findOwner(current) ?? {}
    if (uid === undefined || gid === undefined) continue
    if (uid !== process.getuid?.() || gid !== process.getgid?.())
      return { path: current.slice(root.length), uid, gid }
  }
  return undefined
}

function findOwner(path: string): { readonly uid: number; readonly gid: number } | undefined {
  try {
    return lstatSync(path)
  } catch {
    // A word of the output need not be a path: it may be too long, or lead through a file.
    return undefined
  }
}
