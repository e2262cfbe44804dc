import { readFileSync } from 'node:fs'
import { quoteWord } from './quote.ts'

/** Mount options that a user namespace may not clear. A remount has to repeat them. */
const KEPT_OPTIONS: ReadonlySet<string> = new Set([
  'nosuid',
  'nodev',
  'noexec',
  'noatime',
  'nodiratime',
  'relatime',
])

export interface HostMountPoint {
  readonly path: string
  readonly options: readonly string[]
}

/** Lists the mounts that this process sees, in mount order. */
export function listHostMounts(): HostMountPoint[] {
  // Synchronous: the kernel answers from memory, and a command waits for the list.
  return parseMounts(readFileSync('/proc/self/mountinfo', 'utf8'))
}

/** Returns a directory bound onto itself as a mount, with the options of the mount that contains it. */
export function createSelfBind(directory: string, mounts: readonly HostMountPoint[]): HostMountPoint {
  const containing = mounts.filter(({ path }) => path === '/' || `${directory}/`.startsWith(`${path}/`))
  const nearest = containing.toSorted((one, other) => other.path.length - one.path.length)[0]
  return { path: directory, options: nearest?.options ?? [] }
}

/** Returns a shell line that makes a mount read-only. */
export function createReadOnlyLine(mount: HostMountPoint): string {
  return `${READ_ONLY_FUNCTION}; ${createReadOnlyCall(mount)}`
}

/**
 * The shell function that `createReadOnlyCall` calls. It keeps the script short, since a machine may have hundreds of
 * mounts.
 */
export const READ_ONLY_FUNCTION: string =
  // A path may have been unmounted since the list was read. Only a mount that still exists can fail.
  'read_only() { [ ! -e "$2" ] || mount -n -o "$1" "$2" 2>&- || ! mountpoint -q "$2" || mount -n -o "$1" "$2"; }'

export function createReadOnlyCall({ path, options }: HostMountPoint): string {
  return `read_only ${['remount', 'bind', 'ro', ...options].join(',')} ${quoteWord(path)}`
}

/** Parses the lines of /proc/self/mountinfo. */
function parseMounts(mountinfo: string): HostMountPoint[] {
  return mountinfo.split('\n').flatMap((line) => {
    const [, , , , path, options] = line.split(' ')
    if (path === undefined || options === undefined) return []
    const kept = options.split(',').filter((option) => KEPT_OPTIONS.has(option))
    return [{ path: unescapePath(path), options: kept }]
  })
}

/** Decodes the octal escapes that the kernel writes for spaces and line ends. */
function unescapePath(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
}
