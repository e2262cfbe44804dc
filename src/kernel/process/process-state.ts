import { VfsError } from '../../vfs/index.ts'

export type ProcessState = 'created' | 'running' | 'zombie' | 'dead'

/** One way, and one step at a time. */
const nextStates: Readonly<Record<ProcessState, ProcessState | null>> = {
  created: 'running',
  running: 'zombie',
  zombie: 'dead',
  dead: null,
}

/** Refuses a transition there is not. EINTERNAL. */
export function assertTransition(pid: number, from: ProcessState, to: ProcessState): void {
  if (nextStates[from] === to) return
  throw new VfsError('EINTERNAL', `/proc/${pid}`, {
    op: 'transition',
    detail: `a process that is ${from} cannot become ${to}`,
  })
}
