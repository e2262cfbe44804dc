import { readFileSync } from 'node:fs'
import { MOUNT_TYPE } from './mount-command.ts'

/** A mount as Linux lists it. */
export interface MountEntry {
  /** Unique while it is mounted; used again later. */
  readonly id: string
  readonly directory: string
  readonly source: string
  /** Minor number of its device; for FUSE the id of the connection to its server. */
  readonly connection: string
}

/** A mount with the type of its file system. */
type TypedMount = MountEntry & { readonly type: string }

/** Beginning of the source of an overlay of Coppice, before the name of the fork. */
const SOURCE_PREFIX = 'coppice:'

/** Returns the FUSE mounts of Coppice, of any process, that this process sees. */
export function listFuseMounts(): MountEntry[] {
  return listMounts().filter(({ type }) => type === MOUNT_TYPE)
}

/**
 * Returns all mounts of Coppice that this process sees: FUSE mounts, and overlays that show forks of directories.
 */
export function listCoppiceMounts(): MountEntry[] {
  return listMounts().filter(isCoppiceMount)
}

/** Returns the mount of Coppice in a directory; undefined if there is none, or another mount covers it. */
export function findCoppiceMount(directory: string): MountEntry | undefined {
  const top = findTopMount(directory)
  return top !== undefined && isCoppiceMount(top) ? top : undefined
}

function isCoppiceMount({ type, source }: TypedMount): boolean {
  return type === MOUNT_TYPE || (type === 'overlay' && source.startsWith(SOURCE_PREFIX))
}

/** Returns the FUSE mount of Coppice in a directory; undefined if there is none, or another mount covers it. */
export function findFuseMount(directory: string): MountEntry | undefined {
  const top = findTopMount(directory)
  return top?.type === MOUNT_TYPE ? top : undefined
}

function findTopMount(directory: string): TypedMount | undefined {
  return listMounts().findLast((mount) => mount.directory === directory)
}

function listMounts(): TypedMount[] {
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [mountFields = '', typeFields = ''] = line.split(' - ')
      const [type, source] = typeFields.split(' ')
      const [id = '', , device = '', , directory] = mountFields.split(' ')
      if (type === undefined || source === undefined || directory === undefined) return []
      const [, connection = ''] = device.split(':')
      return [{ id, type, directory: unescapeField(directory), source: unescapeField(source), connection }]
    })
}

/** Decodes a field: Linux writes spaces, tabs, newlines and backslashes as octal numbers. */
function unescapeField(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  )
}
