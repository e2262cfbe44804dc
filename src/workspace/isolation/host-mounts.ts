import { readFile } from 'node:fs/promises'

/** Options of a mount that a user namespace may not take away, and that a remount therefore repeats. */
const KEPT_OPTIONS: ReadonlySet<string> = new Set([
  'nosuid',
  'nodev',
  'noexec',
  'noatime',
  'nodiratime',
  'relatime',
])

export interface HostMount {
  readonly path: string
  readonly options: readonly string[]
}

/** What is mounted on this machine, as this process sees it, in the order it was. */
export async function hostMounts(): Promise<HostMount[]> {
  return parseMounts(await readFile('/proc/self/mountinfo', 'utf8'))
}

/** Reads what /proc/self/mountinfo says. */
function parseMounts(mountinfo: string): HostMount[] {
  return mountinfo.split('\n').flatMap((line) => {
    const [, , , , path, options] = line.split(' ')
    if (path === undefined || options === undefined) return []
    const kept = options.split(',').filter((option) => KEPT_OPTIONS.has(option))
    return [{ path: unescaped(path), options: kept }]
  })
}

/** The kernel writes spaces and line ends of a path as octal numbers. */
function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
}
