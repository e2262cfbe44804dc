import { VfsError } from '../../vfs/index.ts'

/** State of a process. */
export type ProcessState = 'created' | 'running' | 'zombie' | 'dead'

/** States in order; a process moves only one step forward. */
const nextStates: Readonly<Record<ProcessState, ProcessState | null>> = {
  created: 'running',
  running: 'zombie',
  zombie: 'dead',
  dead: null,
}

/** Asserts that a process may change from one state to another; EINTERNAL otherwise. */
export function assertTransition(pid: number, from: ProcessState, to: ProcessState): void {
  if (nextStates[from] === to) return
  throw new VfsError('EINTERNAL', `/proc/${pid}`, {
    op: 'transition',
    detail: `a process that is ${from} cannot become ${to}`,
  })
}
