import { randomBytes } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { isErrno } from './errno.ts'

/** The owner in a name: process namespace, process, and when that started. */
const NAME = /^(\d+)-(\d+)-(\d+)-[0-9a-f]+$/

/** A name that no other thing has, and that says which process a thing belongs to. Letters, digits and hyphens. */
export function newOwnerName(): string {
  const started = startOf(process.pid) ?? '0'
  return `${processNamespace()}-${process.pid}-${started}-${randomBytes(6).toString('hex')}`
}

/** Whether the owner is dead. Of another process namespace, such as another container's, we cannot know. */
export function isOwnerGone(name: string): boolean {
  const [, namespace, pid, started] = NAME.exec(name) ?? []
  if (pid === undefined || namespace !== processNamespace()) return false
  if (process.platform === 'linux') return startOf(Number(pid)) !== started
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return isErrno(error, 'ESRCH')
  }
}

function processNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '')
  } catch {
    // No /proc: one namespace for all.
    return '0'
  }
}

/** When a process started, in ticks since boot; undefined if there is none, or it is dead and not yet waited for. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program comes second, in parentheses, and may hold anything.
    const [state = '', ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return 'ZX'.includes(state) ? undefined : rest[18]
  } catch {
    return undefined
  }
}
