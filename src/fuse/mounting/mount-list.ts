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

/** Returns all our mounts that this process sees. */
export function listOwnMounts(): MountEntry[] {
  return listMounts().filter(({ type }) => type === MOUNT_TYPE)
}

/** Returns our mount that is visible in a directory; undefined if there is none or it is mounted over. */
export function findOwnMount(directory: string): MountEntry | undefined {
  const seen = listMounts().findLast((mount) => mount.directory === directory)
  return seen?.type === MOUNT_TYPE ? seen : undefined
}

function listMounts(): (MountEntry & { readonly type: string })[] {
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
