import { isUtf8 } from 'node:buffer'
import type { FileType } from '../../vfs/index.ts'

const MAX_NAME_BYTES = 255
/** Longest link target that any system follows. */
export const MAX_TARGET_BYTES = 4096
/** Names that no path can have. Git runs programs that the configuration in a `.git` names, so none is served. */
const INVALID_NAME = /^\.{0,2}$|\/|^\.git$/i
const NON_ASCII = /[\u0080-\u00ff]/
/** The form of nearly every name, which needs no further check. */
const PLAIN_NAME = /^[A-Za-z0-9_-][ -.0-~]*$/

/** A name in a tree, and its object. */
export interface TreeEntry {
  readonly name: string
  readonly type: Extract<FileType, 'file' | 'directory' | 'symlink'>
  readonly id: string
  /** Permission bits. */
  readonly mode: number
  /** True for a commit of another repository: a directory without content here. */
  readonly isSubmodule: boolean
  /** Size of the content, once loaded. */
  size: number | undefined
}

/** A tree object as a directory. */
export class GitDirectory {
  /** Sorted by JavaScript's `<`. */
  readonly entries: readonly TreeEntry[]
  /** Escaped names that no path can have: too long, not UTF-8, `..`, slashes, `.git`. Not among the entries. */
  readonly refused: readonly string[]
  #byName: ReadonlyMap<string, TreeEntry> | undefined

  constructor(entries: readonly TreeEntry[], refused: readonly string[]) {
    this.entries = entries
    this.refused = refused
  }

  /** Built at the first lookup: a walk needs none. */
  get byName(): ReadonlyMap<string, TreeEntry> {
    this.#byName ??= new Map(this.entries.map((entry) => [entry.name, entry]))
    return this.#byName
  }
}

interface GitEntryKind {
  readonly type: TreeEntry['type']
  readonly mode: number
  readonly isSubmodule: boolean
}

const PLAIN: GitEntryKind = { type: 'file', mode: 0o644, isSubmodule: false }
const EXECUTABLE: GitEntryKind = { ...PLAIN, mode: 0o755 }
const LINK: GitEntryKind = { type: 'symlink', mode: 0o777, isSubmodule: false }
const DIRECTORY: GitEntryKind = { type: 'directory', mode: 0o755, isSubmodule: false }
const SUBMODULE: GitEntryKind = { ...DIRECTORY, isSubmodule: true }

/** Parses a tree object; `idBytes` is 20, or 32 with SHA-256. Undefined if it is damaged. */
export function parseTree(bytes: Uint8Array, idBytes: number): GitDirectory | undefined {
  const tree = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  // Decoded once: names and ids are then slices, which cost next to nothing.
  const [characters, digits] = [tree.toString('latin1'), tree.toString('hex')]
  const entries: TreeEntry[] = []
  const refused: string[] = []
  for (let offset = 0; offset < tree.length; ) {
    const space = characters.indexOf(' ', offset)
    const end = characters.indexOf('\0', space)
    const next = end + 1 + idBytes
    if (space === -1 || end === -1 || next > tree.length) return undefined
    const name = decodeName(characters.slice(space + 1, end))
    if (name === undefined) refused.push(escapeBytes(characters.slice(space + 1, end)))
    else {
      const { type, mode, isSubmodule } = parseMode(characters.slice(offset, space))
      const id = digits.slice(2 * end + 2, 2 * next)
      entries.push({ name, type, id, mode, isSubmodule, size: undefined })
    }
    offset = next
  }
  return new GitDirectory(sortEntries(entries), refused)
}

/** Converts a file mode. Old repositories contain further modes with the same type bits. */
function parseMode(octal: string): GitEntryKind {
  if (octal === '100644') return PLAIN
  const mode = Number.parseInt(octal, 8)
  switch (mode & 0o170000) {
    case 0o040000:
      return DIRECTORY
    case 0o120000:
      return LINK
    case 0o160000:
      return SUBMODULE
    default:
      return (mode & 0o100) === 0 ? PLAIN : EXECUTABLE
  }
}

/** Decodes a name; undefined for one that no path can have, as in a hostile or foreign tree. */
function decodeName(characters: string): string | undefined {
  if (characters.length > MAX_NAME_BYTES) return undefined
  if (PLAIN_NAME.test(characters)) return characters
  if (INVALID_NAME.test(characters)) return undefined
  if (!NON_ASCII.test(characters)) return characters
  const bytes = Buffer.from(characters, 'latin1')
  return isUtf8(bytes) ? bytes.toString() : undefined
}

/**
 * Sorts the entries: Git sorts by bytes, and directories as if a slash followed. The first of duplicate names wins.
 */
function sortEntries(entries: TreeEntry[]): TreeEntry[] {
  if (isAscending(entries)) return entries
  entries.sort((one, other) => (one.name === other.name ? 0 : one.name < other.name ? -1 : 1))
  return entries.filter(({ name }, index) => index === 0 || entries[index - 1]?.name !== name)
}

function isAscending(entries: readonly TreeEntry[]): boolean {
  let last = ''
  for (const { name } of entries) {
    if (name <= last) return false
    last = name
  }
  return true
}

/** Escapes bytes that are not plain ASCII as `\xff`. */
function escapeBytes(name: string): string {
  const hex = (character: string) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`
  return name.replaceAll(/[^ -~]/g, hex)
}
