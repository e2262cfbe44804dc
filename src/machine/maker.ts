import { createHash, randomBytes } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

const UNKNOWN = '-'

/** The process that made something, as the mark in its name tells. */
export interface Maker {
  readonly pid: number
  /** When the process began, in the system's own count. */
  readonly start: string
  /** In which machine, since which boot, in which space of process numbers. */
  readonly where: string
}

let own: string | undefined

/** A mark for something this process makes, unlike that of anything else ever made. */
export function ownMark(): string {
  own ??= [process.pid, statusOf(process.pid)?.start ?? UNKNOWN, place()].join('.')
  return `${own}.${randomBytes(8).toString('hex')}`
}

/** Who made something by its mark; undefined if it is no mark of ours. */
export function makerOf(mark: string): Maker | undefined {
  const { pid, start, where } =
    /^(?<pid>\d+)\.(?<start>[\d-]+)\.(?<where>[0-9a-f]+)\.[0-9a-f]+$/.exec(mark)?.groups ?? {}
  if (pid === undefined || start === undefined || where === undefined) return undefined
  return { pid: Number(pid), start, where }
}

/** Whether a process is over; undefined if that cannot be known from here. */
export function isOver({ pid, start, where }: Maker): boolean | undefined {
  if (where !== place()) return undefined
  try {
    process.kill(pid, 0)
  } catch (error) {
    // Another user's process may not be signalled, and lives.
    return error instanceof Error && 'code' in error && error.code === 'ESRCH'
  }
  const status = statusOf(pid)
  if (status === undefined) return start === UNKNOWN ? undefined : false
  // A number is given again, and a process that was killed has its number until somebody has noticed.
  return status.start !== start || status.state === 'Z' || status.state === 'X'
}

let here: string | undefined

function place(): string {
  const parts = () => [
    hostname(),
    answerOf(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')),
    answerOf(() => readlinkSync('/proc/self/ns/pid')),
  ]
  here ??= createHash('sha256').update(parts().join('\n')).digest('hex').slice(0, 16)
  return here
}

/** What Linux tells of a process: a name in brackets, which may hold anything, and then fields between spaces. */
function statusOf(pid: number): { readonly state: string; readonly start: string } | undefined {
  const text = answerOf(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ') ?? []
  const [state, start] = [fields[0], fields[19]]
  return state === undefined || start === undefined ? undefined : { state, start }
}

/** What the system answers, or undefined where it has none. */
function answerOf(ask: () => string): string | undefined {
  try {
    return ask()
  } catch {
    return undefined
  }
}
