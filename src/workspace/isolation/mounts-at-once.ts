import { writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type HostMount, READ_ONLY_FUNCTION, readOnlyCall } from './host-mounts.ts'
import { quote } from './quote.ts'

const MOUNTS = '/proc/self/mountinfo'

/** One of many mounts that a single program makes: one for each would take a millisecond every time. */
interface TabledMount {
  readonly source: string
  readonly target: string
  readonly type?: 'tmpfs'
  readonly options: readonly string[]
}

/** A directory that is to be empty, and in memory. */
export interface MemoryMount {
  readonly path: string
  readonly options: readonly string[]
}

/**
 * The line of a shell that makes mounts in their order, all in one go; fails if any of them does. What is mounted there
 * from the same source already is left out without a word. The table is a file in the directory of the session, in
 * which the line runs.
 */
export function mountingLine(directory: string, table: string, mounts: readonly TabledMount[]): string {
  const rows = mounts.map(({ source, target, type = 'none', options }) =>
    [escaped(source), escaped(target), type, options.join(','), '0', '0'].join(' '),
  )
  writeFileSync(join(directory, table), `${rows.join('\n')}\n`)
  return `mount -n -a -T ${table}`
}

/** Lines that make mounts read-only: at once, or one by one where that fails or has left any of them out. */
export function readOnlyLines(directory: string, mounts: readonly HostMount[]): string[] {
  const single = mounts.filter((mount) => isSingle(mount, mounts))
  const others = mounts.filter((mount) => !single.includes(mount))
  const oneByOne = [READ_ONLY_FUNCTION, ...others.map(readOnlyCall)]
  if (single.length === 0) return oneByOne
  const source = unusedSource(directory, 'read-only')
  const table = single.map(({ path, options }) => ({
    source,
    target: path,
    options: ['remount', 'bind', 'ro', ...options],
  }))
  const atOnce = `${mountingLine(directory, 'read-only', table)} 2>&- && ${noneWritable(single)}`
  return [...oneByOne, `{ ${atOnce}; } || { ${single.map(readOnlyCall).join('; ')}; }`]
}

/** Lines that put something empty over directories, if they are there: as above. */
export function memoryLines(directory: string, table: string, mounts: readonly MemoryMount[]): string[] {
  const oneByOne = mounts.map(({ path, options }) => {
    const mount = `mount -n -t tmpfs -o ${options.join(',')} tmpfs ${quote(path)}`
    return `[ ! -d ${quote(path)} ] || ${mount}`
  })
  if (mounts.length < 2) return oneByOne
  const source = unusedSource(directory, table)
  const rows = mounts.map(({ path, options }) => ({ source, target: path, type: 'tmpfs', options }) as const)
  const atOnce = `${mountingLine(directory, table, rows)} 2>&- && ${areFrom(source, rows.length)}`
  return [`{ ${atOnce}; } || { ${oneByOne.join('; ')}; }`]
}

/** A source that nothing was ever mounted from. */
function unusedSource(directory: string, table: string): string {
  return `${basename(directory)}-${table}`
}

/** The root is never in a table; what is mounted twice at a path would seem to have been left out. */
function isSingle({ path }: HostMount, mounts: readonly HostMount[]): boolean {
  return path !== '/' && mounts.filter((other) => other.path === path).length === 1
}

/** Looks at what the kernel says of them. Not with the shell's own `read`, which takes it byte by byte. */
function noneWritable(mounts: readonly HostMount[]): string {
  const patterns = mounts.map(({ path }) => `-e ${quote(` ${listed(path)} rw`)}`)
  // 1 is none; anything else is one, or nothing that could be told.
  return `{ grep -q -F ${patterns.join(' ')} ${MOUNTS}; [ $? = 1 ]; }`
}

function areFrom(source: string, count: number): string {
  return `[ "$(grep -c -F ${quote(` - tmpfs ${source} `)} ${MOUNTS})" = ${count} ]`
}

/** As the kernel writes paths in its lists of mounts: exactly so, or a mount that is still writable is not found there. */
function listed(path: string): string {
  return path.replace(/[ \t\n\\]/g, octal)
}

/** As `mount` reads paths in a table, where a `#` begins a remark. */
function escaped(path: string): string {
  return path.replace(/[ \t\n\\#]/g, octal)
}

function octal(character: string): string {
  return `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`
}
