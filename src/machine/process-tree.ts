import { readdirSync, readFileSync } from 'node:fs'
import { isErrno } from './is-errno.ts'

/** Variable that marks the processes of one run, where no namespace contains them. */
export const RUN_ID_VARIABLE = 'COPPICE_RUN'

/** A process that waits for a disk that does not answer cannot be ended, and is not waited for. */
const MAX_ROUNDS = 200

/** A command that was started, with all that it starts. */
export interface ProcessTree {
  /** Ends them all, whatever they do about it. */
  kill(): void
  /** Lists the processes that are alive. Empty where the system does not list processes as files. */
  pids(): readonly number[]
}

/**
 * Processes in a namespace of their own, below the process that waits for its first one. To end that first one is to
 * end all, and whoever waits for it returns when the last is gone.
 */
export function createNamespaceTree(pid: number): ProcessTree {
  return {
    kill() {
      const first = listChildren(pid)
      // Without a child it is still being set up, or over: then its own death takes everything along.
      for (const victim of first.length === 0 ? [pid] : first) sendKill(victim)
    },
    pids: () => listDescendants(pid),
  }
}

/** A process group, and whoever left it but carries the mark of the run. */
export function createGroupTree(pid: number, mark: string): ProcessTree {
  return {
    kill() {
      sendKill(-pid)
      // One that forks meanwhile is found in the next round.
      for (let round = 0; round < MAX_ROUNDS; round++) {
        const found = listMarkedProcesses(mark)
        if (found.length === 0) return
        for (const victim of found) sendKill(victim)
      }
    },
    pids: () => listMarkedProcesses(mark),
  }
}

function sendKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    // Gone already, or given to another user, who alone may end it.
    if (!isErrno(error, 'ESRCH', 'EPERM')) throw error
  }
}

function listChildren(pid: number, thread = String(pid)): number[] {
  return readFields(`/proc/${pid}/task/${thread}/children`, ' ').map(Number)
}

/** Orphans stay below the first process of a namespace, so nobody leaves by ending a parent. */
function listDescendants(pid: number): number[] {
  const found: number[] = []
  const pending = [pid]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const parent = next
    const children = listNames(`/proc/${parent}/task`).flatMap((thread) => listChildren(parent, thread))
    found.push(...children)
    pending.push(...children)
  }
  return found
}

function listMarkedProcesses(mark: string): number[] {
  const wanted = `${RUN_ID_VARIABLE}=${mark}`
  return listProcesses().filter(
    (pid) => isAlive(pid) && readFields(`/proc/${pid}/environ`, '\0').includes(wanted),
  )
}

function listProcesses(): number[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []))
}

/** A process that is dead but not yet waited for still has its entry. */
function isAlive(pid: number): boolean {
  const [stat = ''] = readFields(`/proc/${pid}/stat`, '\n')
  return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))
}

function listNames(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    // The process is gone.
    return []
  }
}

function readFields(path: string, separator: string): string[] {
  try {
    return readFileSync(path, 'latin1').split(separator).filter(Boolean)
  } catch {
    // The process is gone, or another user's.
    return []
  }
}
