import { readFileSync, statSync } from 'node:fs'
import { MOUNT_TYPE } from './mount-command.ts'
import { abandon } from './unmount.ts'

/** A mount of ours, as the kernel lists it. */
export interface MountEntry {
  readonly directory: string
  readonly source: string
}

/** All our mounts that this process sees. */
export function ourMounts(): MountEntry[] {
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [before = '', after = ''] = line.split(' - ')
      const [type, source] = after.split(' ')
      const directory = before.split(' ')[4]
      if (type !== MOUNT_TYPE || source === undefined || directory === undefined) return []
      return [{ directory: unescaped(directory), source: unescaped(source) }]
    })
}

/** Takes away mounts whose server has died; returns where they were. */
export function sweepStale(): string[] {
  const stale = ourMounts().filter(({ directory }) => isDisconnected(directory))
  for (const { directory } of stale) abandon(directory)
  return stale.map(({ directory }) => directory)
}

/** Whether nobody answers behind a mount any more: the kernel then says so without asking. */
function isDisconnected(directory: string): boolean {
  try {
    statSync(directory)
    return false
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOTCONN'
  }
}

/** The kernel writes blanks, newlines and backslashes as octal numbers. */
function unescaped(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  )
}
