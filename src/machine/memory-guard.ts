import { loadFsPromises } from './load-on-use.ts'

const POLL_INTERVAL_MS = 200
const KIB = 1024
/** Fields of `status`: memory that is no copy of a file. Shared memory counts for each process. */
const RESIDENT = /^(?:RssAnon|RssShmem|VmSwap):\s+(\d+) kB$/gm
/** Fields of `smaps_rollup`: the same with shared memory divided among the processes. Much slower to read. */
const PROPORTIONAL = /^(?:Pss_Anon|Pss_Shmem|SwapPss):\s+(\d+) kB$/gm

/**
 * Watches the memory of the processes of a run until it is disposed, and calls back once when it exceeds the limit.
 * Unlike the kernel's limit on each process, it counts used memory, not reserved: sanitizers and race detectors reserve
 * terabytes.
 */
export class MemoryGuard implements Disposable {
  readonly #pids: () => readonly number[]
  readonly #limit: number
  readonly #onExceeded: () => void
  readonly #timer: NodeJS.Timeout
  #isPolling = false
  #isStopped = false

  constructor(pids: () => readonly number[], limit: number, onExceeded: () => void) {
    this.#pids = pids
    this.#limit = limit
    this.#onExceeded = onExceeded
    this.#timer = setInterval(() => this.#poll(), POLL_INTERVAL_MS)
  }

  [Symbol.dispose](): void {
    this.#isStopped = true
    clearInterval(this.#timer)
  }

  async #poll(): Promise<void> {
    if (this.#isPolling) return
    this.#isPolling = true
    const pids = this.#pids()
    const isSuspect = (await sumMemory(pids, readResident)) > this.#limit
    if (isSuspect && (await sumMemory(pids, readProportional)) > this.#limit) this.#report()
    this.#isPolling = false
  }

  #report(): void {
    // Disposed while it read: the processes have ended, and their numbers may be those of others.
    if (this.#isStopped) return
    this[Symbol.dispose]()
    this.#onExceeded()
  }
}

async function sumMemory(pids: readonly number[], read: (pid: number) => Promise<number>): Promise<number> {
  const each = await Promise.all(pids.map(read))
  return each.reduce((total, bytes) => total + bytes, 0)
}

async function readResident(pid: number): Promise<number> {
  return sumFields(await readProcessFile(pid, 'status'), RESIDENT)
}

async function readProportional(pid: number): Promise<number> {
  const text = await readProcessFile(pid, 'smaps_rollup')
  // Readable only for processes that this one may trace.
  return text === '' ? readResident(pid) : sumFields(text, PROPORTIONAL)
}

/** Reads a file of `/proc` about a process; empty if it has exited, or this one may not read it. */
function readProcessFile(pid: number, file: string): Promise<string> {
  return loadFsPromises()
    .readFile(`/proc/${pid}/${file}`, 'latin1')
    .catch(() => '')
}

function sumFields(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].reduce((total, [, kibibytes]) => total + Number(kibibytes) * KIB, 0)
}
