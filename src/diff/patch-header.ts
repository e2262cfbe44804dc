import { escapeName } from '../text/index.ts'
import { listSpecialBits, type PathChange, type Stat } from '../vfs/index.ts'

const PERMISSIONS = 0o7777
/** The bit by which git decides that a file is executable. */
const OWNER_EXECUTES = 0o100
/** A name that git takes for its own directory, also as other file systems spell it. */
const RESERVED_NAME = /^(?:\.git|git~1)[. ]*(?::.*)?$/i

/**
 * Reports whether git refuses a whole patch because of this change: a name in one of its paths is `.git` or stands for
 * it.
 */
export function isRefusedByGit({ path, from }: PathChange): boolean {
  return [path, from ?? ''].some((each) => each.split('/').some((name) => RESERVED_NAME.test(name)))
}

/** Reports whether a change is of a directory. */
export function isDirectoryChange({ before, after }: PathChange): boolean {
  return (after ?? before)?.type === 'directory'
}

/** Reports whether a change is of a pipe, socket or device. */
export function isSpecialChange({ before, after }: PathChange): boolean {
  return (after ?? before)?.type === 'other'
}

/** Returns both names of a change as its patch has them. */
export function formatPatchNames({ path, from }: PathChange): readonly [old: string, current: string] {
  return [quoteName(`a${from ?? path}`), quoteName(`b${path}`)]
}

/** Returns the lines before the content of a patch: names and modes, as git writes them. */
export function formatPatchHeader(change: PathChange): string[] {
  return [`diff --git ${formatPatchNames(change).join(' ')}`, ...formatExtendedHeader(change)]
}

/** Returns a line about permissions that git cannot express; it skips the line. Empty without any. */
export function formatModeNote(change: PathChange): string[] {
  const modes = formatModes(change)
  // Git's own header has only the executable bit.
  const isInHeader = toGitMode(change.before) !== toGitMode(change.after) && !modes.includes('(')
  return modes === '' || isInHeader ? [] : [`mode of ${escapeName(change.path)}: ${modes}`]
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

/** Returns the mode of a file as git writes it: of its permissions, it has only the executable bit. */
export function toGitMode(stat: Stat | undefined): string {
  if (stat?.type === 'symlink') return '120000'
  return ((stat?.mode ?? 0) & OWNER_EXECUTES) === 0 ? '100644' : '100755'
}

function formatExtendedHeader({ kind, path, from, before, after }: PathChange): string[] {
  if (kind === 'added') return [`new file mode ${toGitMode(after)}`]
  if (kind === 'deleted') return [`deleted file mode ${toGitMode(before)}`]
  const isSameMode = toGitMode(before) === toGitMode(after)
  const modes = isSameMode ? [] : [`old mode ${toGitMode(before)}`, `new mode ${toGitMode(after)}`]
  if (kind === 'modified' || from === undefined) return modes
  return [...modes, `rename from ${quoteName(from.slice(1))}`, `rename to ${quoteName(path.slice(1))}`]
}

/** Quotes a name as git does. Git reads a quote or backslash in any other name as the start of a quoted one. */
function quoteName(name: string): string {
  const escaped = escapeName(name)
  if (escaped !== name || !/["\\]/.test(name)) return escaped
  return `"${name.replaceAll(/["\\]/g, '\\$&')}"`
}

function formatOctal(mode: number): string {
  return (mode & PERMISSIONS).toString(8).padStart(4, '0')
}
