import { writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type HostMount, readOnlyLine } from './host-mounts.ts'
import { quote } from './quote.ts'

/** One of many mounts that a single program makes: one for each would take a millisecond every time. */
interface TabledMount {
  readonly source: string
  readonly target: string
  readonly options: readonly string[]
}

/**
 * The line of a shell that makes mounts in their order, all in one go; fails if any of them does. What is mounted there
 * from the same source already is left out without a word. The table is a file in the directory of the session, in
 * which the line runs.
 */
export function mountingLine(directory: string, table: string, mounts: readonly TabledMount[]): string {
  const rows = mounts.map(({ source, target, options }) =>
    [escaped(source), escaped(target), 'none', options.join(','), '0', '0'].join(' '),
  )
  writeFileSync(join(directory, table), `${rows.join('\n')}\n`)
  return `mount -n -a -T ${table}`
}

/** Lines that make mounts read-only: at once, or one by one where that fails or has left any of them out. */
export function readOnlyLines(directory: string, mounts: readonly HostMount[]): string[] {
  const single = mounts.filter((mount) => isSingle(mount, mounts))
  const others = mounts.filter((mount) => !single.includes(mount))
  if (single.length === 0) return others.map(readOnlyLine)
  // A source that nothing was ever mounted from.
  const source = basename(directory)
  const table = single.map(({ path, options }) => ({
    source,
    target: path,
    options: ['remount', 'bind', 'ro', ...options],
  }))
  const atOnce = `${mountingLine(directory, 'read-only', table)} 2>&- && ${noneWritable(single)}`
  return [`{ ${atOnce}; } || { ${single.map(readOnlyLine).join('; ')}; }`, ...others.map(readOnlyLine)]
}

/** The root is never in a table; what is mounted twice at a path would seem to have been left out. */
function isSingle({ path }: HostMount, mounts: readonly HostMount[]): boolean {
  return path !== '/' && mounts.filter((other) => other.path === path).length === 1
}

/** Looks at what the kernel says of them, without another program. */
function noneWritable(mounts: readonly HostMount[]): string {
  const patterns = mounts.map(({ path }) => `${quote(`${listed(path)} rw`)}*`).join('|')
  const looking = `case "$path $options" in ${patterns}) exit 1; esac`
  return `(while read -r _ _ _ _ path options _; do ${looking}; done < /proc/self/mountinfo)`
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
