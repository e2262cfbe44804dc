import { diffLines } from '../../backends/vault/index.ts'
import {
  type CallContext,
  type Change,
  type FileSystem,
  isLinkable,
  readFile,
  type Stat,
} from '../../vfs/index.ts'
import { shown } from '../text/index.ts'
import { linesOf, unifiedDiff } from './unified-diff.ts'

/** How far into a file a NUL byte marks it as binary. */
const BINARY_PROBE_BYTES = 8000
/** A text larger than this is told like a binary one. */
const MAX_TEXT_BYTES = 16 * 1024 * 1024

/** The trees a change leads from and to. */
export interface Trees {
  readonly before: FileSystem
  readonly after: FileSystem
}

/** A changed file with what it held; null where it is missing, not a file, or not text. */
export interface ChangedText {
  readonly change: Change
  readonly isBinary: boolean
  readonly old: string
  readonly now: string
}

export async function changedText(change: Change, trees: Trees, ctx: CallContext): Promise<ChangedText> {
  const old = await contentOf(trees.before, change.from ?? change.path, change.before, ctx)
  const now = await contentOf(trees.after, change.path, change.after, ctx)
  const isBinary = old === null || now === null
  return { change, isBinary, old: old ?? '', now: now ?? '' }
}

/** How many lines a change adds and takes away. */
export function lineCounts({ old, now }: ChangedText): { readonly added: number; readonly removed: number } {
  const changes = diffLines(linesOf(old), linesOf(now))
  return {
    added: changes.reduce((sum, { newLines }) => sum + newLines.length, 0),
    removed: changes.reduce((sum, { oldLines }) => sum + oldLines.length, 0),
  }
}

/** One change as a patch that `git apply` and `patch -p1` take; a binary file is only named. */
export function patchLines({ change, isBinary, old, now }: ChangedText): string[] {
  const [oldName, newName] = [shown(`a${change.from ?? change.path}`), shown(`b${change.path}`)]
  const header = [`diff --git ${oldName} ${newName}`, ...extendedHeader(change)]
  if (isBinary) return [...header, `Binary files ${oldName} and ${newName} differ`]
  const hunks = unifiedDiff(old, now)
  if (hunks.length === 0) return header
  const oldFile = change.kind === 'added' ? '/dev/null' : oldName
  const newFile = change.kind === 'deleted' ? '/dev/null' : newName
  return [...header, `--- ${oldFile}`, `+++ ${newFile}`, ...hunks]
}

function extendedHeader({ kind, path, from, before, after }: Change): string[] {
  if (kind === 'added') return [`new file mode ${gitMode(after)}`]
  if (kind === 'deleted') return [`deleted file mode ${gitMode(before)}`]
  const isSameMode = gitMode(before) === gitMode(after)
  const modes = isSameMode ? [] : [`old mode ${gitMode(before)}`, `new mode ${gitMode(after)}`]
  if (kind === 'modified' || from === undefined) return modes
  return [...modes, `rename from ${shown(from.slice(1))}`, `rename to ${shown(path.slice(1))}`]
}

function gitMode(stat: Stat | undefined): string {
  if (stat?.type === 'symlink') return '120000'
  return ((stat?.mode ?? 0) & 0o111) === 0 ? '100644' : '100755'
}

/** The text of a file or the target of a link; null if it is neither or no text. */
async function contentOf(
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
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
}
