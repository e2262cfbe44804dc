import { isUtf8 } from 'node:buffer'
import { diffLines } from '../backends/vault/index.ts'
import { escapeName } from '../text/index.ts'
import {
  type CallContext,
  type FileSystem,
  isLinkable,
  type PathChange,
  readFile,
  type Stat,
} from '../vfs/index.ts'
import { splitLines } from './hunks.ts'
import {
  formatModeNote,
  formatModes,
  formatPatchHeader,
  formatPatchNames,
  isDirectoryChange,
  isSpecialChange,
} from './patch-header.ts'
import { formatUnifiedDiff } from './unified-diff.ts'

/** Length of the prefix in which a NUL byte marks a file as binary. */
const BINARY_PROBE_BYTES = 8000
/** Size above which a text is shown as binary. */
const MAX_TEXT_BYTES = 16 * 1024 * 1024

const KIND_WORDS: Readonly<Record<PathChange['kind'], string>> = {
  added: 'new',
  modified: 'changed',
  deleted: 'deleted',
  renamed: 'renamed',
}

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
 * Formats one change as a patch for people and models: a binary file is only named. `formatCompletePatch` formats it for
 * git. Changes that a patch cannot express are lines that git and `patch` skip: directories, special files, and
 * permissions other than execution.
 */
export function formatPatch({ change, isBinary, old, current }: ChangedText): string[] {
  if (isDirectoryChange(change)) return [formatDirectoryChange(change)]
  if (isSpecialChange(change)) return [`${KIND_WORDS[change.kind]} special file ${escapeName(change.path)}`]
  const [oldName, newName] = formatPatchNames(change)
  const [note, header] = [formatModeNote(change), formatPatchHeader(change)]
  if (isBinary) return [...note, ...header, `Binary files ${oldName} and ${newName} differ`]
  const hunks = formatUnifiedDiff(old, current)
  // Git rejects the whole patch if a header has no content.
  if (hunks.length === 0) return header.length > 1 ? [...note, ...header] : note
  const oldFile = change.kind === 'added' ? '/dev/null' : endName(oldName)
  const newFile = change.kind === 'deleted' ? '/dev/null' : endName(newName)
  return [...note, ...header, `--- ${oldFile}`, `+++ ${newFile}`, ...hunks]
}

/** Ends a name with spaces by a tab, as git does: `patch` would take the part after a space for a date. */
function endName(name: string): string {
  return name.includes(' ') && !name.startsWith('"') ? `${name}\t` : name
}

function formatDirectoryChange(change: PathChange): string {
  const path = escapeName(change.path)
  if (change.kind === 'modified') return `mode of directory ${path}: ${formatModes(change)}`
  return `${change.kind === 'added' ? 'new' : 'deleted'} directory ${path}`
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
