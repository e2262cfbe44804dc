import { readFileSync } from 'node:fs'
import { MOUNT_TYPE } from './mount-command.ts'

/** A mount in the kernel's list. */
export interface MountEntry {
  /** Id, unique while it is mounted. */
  readonly id: string
  readonly directory: string
  readonly source: string
  /** Id of the kernel's connection to its server. */
  readonly connection: string
}

/** A mount with the type of its file system. */
type ListedMount = MountEntry & { readonly type: string }

/** Beginning of the source of our mounts, before the name of the vault or fork. */
const SOURCE_PREFIX = 'coppice:'

/** Returns all mounts that we serve and that this process sees. */
export function listOwnMounts(): MountEntry[] {
  return listMounts().filter(({ type }) => type === MOUNT_TYPE)
}

/**
 * Returns all mounts of this product that this process sees: those that we serve, and overlays of the kernel that show
 * forks of directories.
 */
export function listCoppiceMounts(): MountEntry[] {
  return listMounts().filter(isCoppiceMount)
}

/** Returns the mount of this product that is visible in a directory; undefined if there is none. */
export function findCoppiceMount(directory: string): MountEntry | undefined {
  const seen = listMounts().findLast((mount) => mount.directory === directory)
  return seen !== undefined && isCoppiceMount(seen) ? seen : undefined
}

function isCoppiceMount({ type, source }: ListedMount): boolean {
  return type === MOUNT_TYPE || (type === 'overlay' && source.startsWith(SOURCE_PREFIX))
}

/** Returns our mount that is visible in a directory; undefined if there is none or it is mounted over. */
export function findOwnMount(directory: string): MountEntry | undefined {
  const seen = listMounts().findLast((mount) => mount.directory === directory)
  return seen?.type === MOUNT_TYPE ? seen : undefined
}

function listMounts(): ListedMount[] {
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [before = '', after = ''] = line.split(' - ')
      const [type, source] = after.split(' ')
      const [id = '', , device = '', , directory] = before.split(' ')
      if (type === undefined || source === undefined || directory === undefined) return []
      const [, connection = ''] = device.split(':')
      return [{ id, type, directory: unescapePath(directory), source: unescapePath(source), connection }]
    })
}

/** The kernel escapes blanks, newlines and backslashes as octal numbers. */
function unescapePath(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  )
}
