import { writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createReadOnlyCall, type HostMountPoint, READ_ONLY_FUNCTION } from './host-mounts.ts'
import { quoteWord } from './quote.ts'

const MOUNTINFO = '/proc/self/mountinfo'

/**
 * A row of a mount table. One `mount` process makes all of its rows: a process for each would cost a millisecond a
 * row.
 */
interface BatchMount {
  readonly source: string
  readonly target: string
  readonly type?: 'tmpfs'
  readonly options: readonly string[]
}

/** A directory to cover with an empty file system in memory. */
export interface TmpfsMount {
  readonly path: string
  readonly options: readonly string[]
}

/**
 * Writes a mount table into the session's directory, and returns the shell line that mounts its rows in order. The
 * line runs in that directory and fails if a row fails. `mount` silently skips a row that is already mounted from the
 * same source.
 */
export function createMountLine(directory: string, table: string, mounts: readonly BatchMount[]): string {
  const rows = mounts.map(({ source, target, type = 'none', options }) =>
    [escapeFstabPath(source), escapeFstabPath(target), type, options.join(','), '0', '0'].join(' '),
  )
  writeFileSync(join(directory, table), `${rows.join('\n')}\n`)
  return `mount -n -a -T ${table}`
}

/**
 * Returns shell lines that make mounts read-only in one `mount` process. Where that fails or skips a row, they
 * remount each on its own.
 */
export function createReadOnlyLines(directory: string, mounts: readonly HostMountPoint[]): string[] {
  const single = mounts.filter((mount) => isSingle(mount, mounts))
  const others = mounts.filter((mount) => !single.includes(mount))
  const oneByOne = [READ_ONLY_FUNCTION, ...others.map(createReadOnlyCall)]
  if (single.length === 0) return oneByOne
  const source = createUniqueSource(directory, 'read-only')
  const table = single.map(({ path, options }) => ({
    source,
    target: path,
    options: ['remount', 'bind', 'ro', ...options],
  }))
  const inOneProcess = `${createMountLine(directory, 'read-only', table)} 2>&- && ${createNoneWritableTest(single)}`
  return [...oneByOne, `{ ${inOneProcess}; } || { ${single.map(createReadOnlyCall).join('; ')}; }`]
}

/**
 * Returns shell lines that cover existing directories with an empty tmpfs, in one `mount` process or one for each.
 */
export function createTmpfsLines(directory: string, table: string, mounts: readonly TmpfsMount[]): string[] {
  const oneByOne = mounts.map(({ path, options }) => {
    const mount = `mount -n -t tmpfs -o ${options.join(',')} tmpfs ${quoteWord(path)}`
    return `[ ! -d ${quoteWord(path)} ] || ${mount}`
  })
  if (mounts.length < 2) return oneByOne
  const source = createUniqueSource(directory, table)
  const rows = mounts.map(({ path, options }) => ({ source, target: path, type: 'tmpfs', options }) as const)
  const inOneProcess = `${createMountLine(directory, table, rows)} 2>&- && ${createMountCountTest(source, rows.length)}`
  return [`{ ${inOneProcess}; } || { ${oneByOne.join('; ')}; }`]
}

/** Returns a source name that no mount uses, so that `mount` skips no row. */
function createUniqueSource(directory: string, table: string): string {
  return `${basename(directory)}-${table}`
}

/**
 * True if the mount may go into a table. The root may not, and `mount` would skip a second mount at the same path.
 */
function isSingle({ path }: HostMountPoint, mounts: readonly HostMountPoint[]): boolean {
  return path !== '/' && mounts.filter((other) => other.path === path).length === 1
}

/**
 * Returns a shell test that succeeds if the kernel lists none of the mounts as writable. `grep` reads the list,
 * because the shell's own `read` takes it byte by byte.
 */
function createNoneWritableTest(mounts: readonly HostMountPoint[]): string {
  const patterns = mounts.map(({ path }) => `-e ${quoteWord(` ${escapeMountinfoPath(path)} rw`)}`)
  // `grep` exits with 1 if it found no line. Any other status means a writable mount or a failed check.
  return `{ grep -q -F ${patterns.join(' ')} ${MOUNTINFO}; [ $? = 1 ]; }`
}

function createMountCountTest(source: string, count: number): string {
  return `[ "$(grep -c -F ${quoteWord(` - tmpfs ${source} `)} ${MOUNTINFO})" = ${count} ]`
}

/** Escapes a path as /proc/self/mountinfo does. Another spelling would miss a mount that is still writable. */
function escapeMountinfoPath(path: string): string {
  return path.replace(/[ \t\n\\]/g, toOctalEscape)
}

/** Escapes a path for an fstab file, in which `#` begins a comment. */
function escapeFstabPath(path: string): string {
  return path.replace(/[ \t\n\\#]/g, toOctalEscape)
}

function toOctalEscape(character: string): string {
  return `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`
}
