import { readdirSync, readFileSync } from 'node:fs'
import { isErrno } from './is-errno.ts'

/** Environment variable with the run id, by which the processes of a run are found where no namespace contains them. */
export const RUN_ID_VARIABLE = 'COPPICE_RUN'

/** Limit of the rounds of a kill: a process that waits for a dead disk cannot be killed. */
const MAX_KILL_ROUNDS = 200

/** The processes of a run. */
export interface ProcessTree {
  /** Kills all of them. */
  kill(): void
  /** Lists the processes of the run. Empty on systems without `/proc`. */
  pids(): readonly number[]
}

/**
 * The processes of a PID namespace. `pid` is the process outside that waits for the first one inside. If the first one
 * is killed, the kernel kills all others before `pid` exits.
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

/**
 * A process group, and all processes with the run id in their environment, also those that left the group.
 *
 * @param keepsOrphans true if each of them stays below `pid`: then they are listed without a search of the machine.
 */
export function createGroupTree(
  pid: number,
  runId: string,
  { keepsOrphans = false }: { readonly keepsOrphans?: boolean } = {},
): ProcessTree {
  return {
    kill() {
      sendKill(-pid)
      // A round finds processes that were forked during the one before.
      for (let round = 0; round < MAX_KILL_ROUNDS; round++) {
        const found = listProcessesOfRun(runId)
        if (found.length === 0) return
        for (const victim of found) sendKill(victim)
      }
    },
    pids: () => (keepsOrphans ? listDescendants(pid) : listProcessesOfRun(runId)),
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

/** Lists the children that a thread of a process has started; by default its main thread. Empty if it has exited. */
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

function listProcessesOfRun(runId: string): number[] {
  const wanted = `${RUN_ID_VARIABLE}=${runId}`
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
  const stat = readProcFile(`/proc/${pid}/stat`)
  // The name before the state may have any characters, also `)` and newlines.
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
  return readProcFile(path).split(separator).filter(Boolean)
}

function readProcFile(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    // The process has exited, or is another user's.
    return ''
  }
}
