import { readdirSync, readFileSync } from 'node:fs'
import { isErrno } from './is-errno.ts'

/** Variable that marks the processes of one run, where no namespace contains them. */
export const RUN_ID_VARIABLE = 'COPPICE_RUN'

/** Limit of rounds: a process that waits for a dead disk cannot be killed. */
const MAX_ROUNDS = 200

/** A process and all its descendants. */
export interface ProcessTree {
  /** Kills all of them. */
  kill(): void
  /** Lists the living processes. Empty on systems without `/proc`. */
  pids(): readonly number[]
}

/**
 * Processes in a PID namespace of their own. `pid` is the process outside that waits for the first one inside. If the
 * first one is killed, the kernel kills all others before `pid` exits.
 */
export function createNamespaceTree(pid: number): ProcessTree {
  return {
    kill() {
      const first = listChildren(pid)
      // Without a child it is still being set up, or over: then it is enough to kill `pid`.
      for (const victim of first.length === 0 ? [pid] : first) sendKill(victim)
    },
    pids: () => listDescendants(pid),
  }
}

/** A process group, and processes that left it but have the mark of the run in their environment. */
export function createGroupTree(pid: number, mark: string): ProcessTree {
  return {
    kill() {
      sendKill(-pid)
      // A round finds processes that were forked during the one before.
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
    // The process has exited, or has become another user's.
    if (!isErrno(error, 'ESRCH', 'EPERM')) throw error
  }
}

/** Lists the children that a thread of a process has started. Empty if it has exited. */
export function listChildren(pid: number, thread: string = String(pid)): number[] {
  return readFields(`/proc/${pid}/task/${thread}/children`, ' ').map(Number)
}

/** Lists all processes below one. Orphans stay below the first process of their namespace, so none escapes. */
export function listDescendants(pid: number): number[] {
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

/** False for a zombie, which still has its entry. */
function isAlive(pid: number): boolean {
  const [stat = ''] = readFields(`/proc/${pid}/stat`, '\n')
  return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))
}

function listNames(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    // The process has exited.
    return []
  }
}

function readFields(path: string, separator: string): string[] {
  try {
    return readFileSync(path, 'latin1').split(separator).filter(Boolean)
  } catch {
    // The process has exited, or is another user's.
    return []
  }
}
