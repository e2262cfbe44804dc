import { writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createReadOnlyCall, type HostMountPoint, READ_ONLY_FUNCTION } from './host-mounts.ts'
import { quoteWord } from './quote.ts'

const MOUNTINFO = '/proc/self/mountinfo'

/** One of many mounts that a single program makes: one for each would take a millisecond every time. */
interface BatchMount {
  readonly source: string
  readonly target: string
  readonly type?: 'tmpfs'
  readonly options: readonly string[]
}

/** A directory that is to be empty, and in memory. */
export interface TmpfsMount {
  readonly path: string
  readonly options: readonly string[]
}

/**
 * The line of a shell that makes mounts in their order, all in one go; fails if any of them does. What is mounted there
 * from the same source already is left out without a word. The table is a file in the directory of the session, in
 * which the line runs.
 */
export function createMountLine(directory: string, table: string, mounts: readonly BatchMount[]): string {
  const rows = mounts.map(({ source, target, type = 'none', options }) =>
    [escapeFstabPath(source), escapeFstabPath(target), type, options.join(','), '0', '0'].join(' '),
  )
  writeFileSync(join(directory, table), `${rows.join('\n')}\n`)
  return `mount -n -a -T ${table}`
}

/** Lines that make mounts read-only: at once, or one by one where that fails or has left any of them out. */
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
  const atOnce = `${createMountLine(directory, 'read-only', table)} 2>&- && ${createNoneWritableTest(single)}`
  return [...oneByOne, `{ ${atOnce}; } || { ${single.map(createReadOnlyCall).join('; ')}; }`]
}

/** Lines that put something empty over directories, if they are there: as above. */
export function createTmpfsLines(directory: string, table: string, mounts: readonly TmpfsMount[]): string[] {
  const oneByOne = mounts.map(({ path, options }) => {
    const mount = `mount -n -t tmpfs -o ${options.join(',')} tmpfs ${quoteWord(path)}`
    return `[ ! -d ${quoteWord(path)} ] || ${mount}`
  })
  if (mounts.length < 2) return oneByOne
  const source = createUniqueSource(directory, table)
  const rows = mounts.map(({ path, options }) => ({ source, target: path, type: 'tmpfs', options }) as const)
  const atOnce = `${createMountLine(directory, table, rows)} 2>&- && ${createMountCountTest(source, rows.length)}`
  return [`{ ${atOnce}; } || { ${oneByOne.join('; ')}; }`]
}

/** A source that nothing was ever mounted from. */
function createUniqueSource(directory: string, table: string): string {
  return `${basename(directory)}-${table}`
}

/** The root is never in a table; what is mounted twice at a path would seem to have been left out. */
function isSingle({ path }: HostMountPoint, mounts: readonly HostMountPoint[]): boolean {
  return path !== '/' && mounts.filter((other) => other.path === path).length === 1
}

/** Looks at what the kernel says of them. Not with the shell's own `read`, which takes it byte by byte. */
function createNoneWritableTest(mounts: readonly HostMountPoint[]): string {
  const patterns = mounts.map(({ path }) => `-e ${quoteWord(` ${escapeMountinfoPath(path)} rw`)}`)
  // 1 means none; any other status means one, or an unknown state.
  return `{ grep -q -F ${patterns.join(' ')} ${MOUNTINFO}; [ $? = 1 ]; }`
}

function createMountCountTest(source: string, count: number): string {
  return `[ "$(grep -c -F ${quoteWord(` - tmpfs ${source} `)} ${MOUNTINFO})" = ${count} ]`
}

/** As the kernel writes paths in its lists of mounts: exactly so, or a mount that is still writable is not found there. */
function escapeMountinfoPath(path: string): string {
  return path.replace(/[ \t\n\\]/g, toOctalEscape)
}

/** As `mount` reads paths in a table, where a `#` begins a remark. */
function escapeFstabPath(path: string): string {
  return path.replace(/[ \t\n\\#]/g, toOctalEscape)
}

function toOctalEscape(character: string): string {
  return `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`
}
