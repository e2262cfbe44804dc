import { isUtf8 } from 'node:buffer'
import { diffLines } from '../backends/vault/index.ts'
import { escapeName } from '../text/index.ts'
import {
  type CallContext,
  type FileSystem,
  isLinkable,
  listSpecialBits,
  type PathChange,
  readFile,
  type Stat,
} from '../vfs/index.ts'
import { splitLines } from './hunks.ts'
import { formatUnifiedDiff } from './unified-diff.ts'

/** Length of the prefix in which a NUL byte marks a file as binary. */
const BINARY_PROBE_BYTES = 8000
/** Size above which a text is shown as binary. */
const MAX_TEXT_BYTES = 16 * 1024 * 1024
const PERMISSIONS = 0o7777

/** The trees a change leads from and to. */
export interface TreePair {
  readonly before: FileSystem
  readonly after: FileSystem
}

/** A change with both texts of its file. A text is empty if the file is missing there, binary or a directory. */
export interface ChangedText {
  readonly change: PathChange
  readonly isBinary: boolean
  readonly old: string
  readonly current: string
}

/** Reads both texts of a change. */
export async function readChangedText(
  change: PathChange,
  trees: TreePair,
  ctx: CallContext,
): Promise<ChangedText> {
  if (isDirectoryChange(change)) return { change, isBinary: false, old: '', current: '' }
  const old = await readTextContent(trees.before, change.from ?? change.path, change.before, ctx)
  const current = await readTextContent(trees.after, change.path, change.after, ctx)
  const isBinary = old === null || current === null
  return { change, isBinary, old: old ?? '', current: current ?? '' }
}

/** Counts the lines that a change adds and removes. */
export function countChangedLines({ old, current }: ChangedText): {
  readonly added: number
  readonly removed: number
} {
  const changes = diffLines(splitLines(old), splitLines(current))
  return {
    added: changes.reduce((sum, { newLines }) => sum + newLines.length, 0),
    removed: changes.reduce((sum, { oldLines }) => sum + oldLines.length, 0),
  }
}

/**
 * Formats one change as a patch for `git apply` and `patch -p1`. A binary file is only named. Changes that a patch
 * cannot express are lines that both tools skip: directories, and permissions other than execution.
 */
export function formatPatch({ change, isBinary, old, current }: ChangedText): string[] {
  if (isDirectoryChange(change)) return [formatDirectoryChange(change)]
  const [oldName, newName] = [escapeName(`a${change.from ?? change.path}`), escapeName(`b${change.path}`)]
  const modes = formatModes(change)
  // A line that git skips: its own header has only the executable bit.
  const isInHeader = toGitMode(change.before) !== toGitMode(change.after) && !modes.includes('(')
  const warning = modes === '' || isInHeader ? [] : [`mode of ${escapeName(change.path)}: ${modes}`]
  const header = [...warning, `diff --git ${oldName} ${newName}`, ...formatExtendedHeader(change)]
  if (isBinary) return [...header, `Binary files ${oldName} and ${newName} differ`]
  const hunks = formatUnifiedDiff(old, current)
  // Git rejects the whole patch if a header has no content.
  if (hunks.length === 0)
    return header.length - warning.length > 1
      ? header
      : [`mode of ${escapeName(change.path)}: ${formatModes(change)}`]
  const oldFile = change.kind === 'added' ? '/dev/null' : oldName
  const newFile = change.kind === 'deleted' ? '/dev/null' : newName
  return [...header, `--- ${oldFile}`, `+++ ${newFile}`, ...hunks]
}

/**
 * Returns `0644 -> 0600` if the change affects permissions, or `4755 (setuid)` for a new file with such a bit;
 * otherwise an empty string.
 */
export function formatModes({ before, after }: PathChange): string {
  const [old, now] = [before?.mode ?? null, after?.mode ?? null]
  if (now === null || old === now) return ''
  const special = listSpecialBits(now)
  const note = special.length === 0 ? '' : ` (${special.join(', ')})`
  if (old === null) return note === '' ? '' : `${formatOctal(now)}${note}`
  return `${formatOctal(old)} -> ${formatOctal(now)}${note}`
}

/** Reports whether a change is of a directory. */
export function isDirectoryChange({ before, after }: PathChange): boolean {
  return (after ?? before)?.type === 'directory'
}

function formatDirectoryChange(change: PathChange): string {
  const path = escapeName(change.path)
  if (change.kind === 'modified') return `mode of directory ${path}: ${formatModes(change)}`
  return `${change.kind === 'added' ? 'new' : 'deleted'} directory ${path}`
}

function formatOctal(mode: number): string {
  return (mode & PERMISSIONS).toString(8).padStart(4, '0')
}

function formatExtendedHeader({ kind, path, from, before, after }: PathChange): string[] {
  if (kind === 'added') return [`new file mode ${toGitMode(after)}`]
  if (kind === 'deleted') return [`deleted file mode ${toGitMode(before)}`]
  const isSameMode = toGitMode(before) === toGitMode(after)
  const modes = isSameMode ? [] : [`old mode ${toGitMode(before)}`, `new mode ${toGitMode(after)}`]
  if (kind === 'modified' || from === undefined) return modes
  return [...modes, `rename from ${escapeName(from.slice(1))}`, `rename to ${escapeName(path.slice(1))}`]
}

function toGitMode(stat: Stat | undefined): string {
  if (stat?.type === 'symlink') return '120000'
  return ((stat?.mode ?? 0) & 0o111) === 0 ? '100644' : '100755'
}

/** Returns the text of a file or the target of a link; empty without one, null for anything else. */
async function readTextContent(
  fs: FileSystem,
  path: string,
  stat: Stat | undefined,
  ctx: CallContext,
): Promise<string | null> {
  if (stat === undefined) return ''
  if (stat.type === 'symlink' && isLinkable(fs)) return fs.readlink(path, ctx)
  if (stat.type !== 'file' || stat.size > MAX_TEXT_BYTES) return null
  const bytes = await readFile(fs, path, undefined, ctx)
  if (bytes.subarray(0, BINARY_PROBE_BYTES).includes(0)) return null
  // Text in another encoding would not survive a patch.
  return isUtf8(bytes) ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes) : null
}
