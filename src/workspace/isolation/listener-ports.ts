import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isErrno } from '../../machine/index.ts'
import type { LoopbackListener } from './isolation-plan.ts'

/** Name of the file, in the directory of a session, with a line for each port on which a listener listens. */
const PORTS_FILE = 'listener-ports'

/** Records that ports on the loopback of a session are those of a listener, and not of a program in the session. */
export function recordListenerPorts(directory: string, { ports }: LoopbackListener): void {
  appendFileSync(join(directory, PORTS_FILE), ports.map((port) => `${port}\n`).join(''))
}

/** Returns the recorded ports of a session, of all its commands. */
export function readListenerPorts(directory: string): ReadonlySet<number> {
  try {
    return new Set(readFileSync(join(directory, PORTS_FILE), 'utf8').split('\n').filter(Boolean).map(Number))
  } catch (error) {
    // No command of the session has a listener, or the session has ended.
    if (isErrno(error, 'ENOENT')) return new Set()
    throw error
  }
}
