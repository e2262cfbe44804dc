import { readFileSync } from 'node:fs'
import { quoteWord } from './quote.ts'

/** Options of a mount that a user namespace may not take away, and that a remount therefore repeats. */
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

/** Lists the mounts of this machine, as this process sees them, in their order. */
export function listHostMounts(): HostMountPoint[] {
  // At once: the kernel has it at hand, and a command waits for it.
  return parseMounts(readFileSync('/proc/self/mountinfo', 'utf8'))
}

/** A directory that is bound onto itself, as a mount with the options of the one it is in. */
export function createSelfBind(directory: string, mounts: readonly HostMountPoint[]): HostMountPoint {
  const around = mounts.filter(({ path }) => path === '/' || `${directory}/`.startsWith(`${path}/`))
  const nearest = around.toSorted((one, other) => other.path.length - one.path.length)[0]
  return { path: directory, options: nearest?.options ?? [] }
}

/** The line of a shell that makes a mount read-only. What cannot be reached needs not be: the command is the same user. */
export function createReadOnlyLine(mount: HostMountPoint): string {
  return `${READ_ONLY_FUNCTION}; ${createReadOnlyCall(mount)}`
}

/** The function of a shell that `readOnlyCall` calls: a machine may have hundreds of mounts, and a script is one word. */
export const READ_ONLY_FUNCTION: string =
  // The list is older than this namespace: a path may be unmounted since. Only a mount that still exists fails.
  'read_only() { [ ! -e "$2" ] || mount -n -o "$1" "$2" 2>&- || ! mountpoint -q "$2" || mount -n -o "$1" "$2"; }'

export function createReadOnlyCall({ path, options }: HostMountPoint): string {
  return `read_only ${['remount', 'bind', 'ro', ...options].join(',')} ${quoteWord(path)}`
}

/** Reads what /proc/self/mountinfo says. */
function parseMounts(mountinfo: string): HostMountPoint[] {
  return mountinfo.split('\n').flatMap((line) => {
    const [, , , , path, options] = line.split(' ')
    if (path === undefined || options === undefined) return []
    const kept = options.split(',').filter((option) => KEPT_OPTIONS.has(option))
    return [{ path: unescapePath(path), options: kept }]
  })
}

/** The kernel writes spaces and line ends of a path as octal numbers. */
function unescapePath(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
}
