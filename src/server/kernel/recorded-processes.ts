import type { ExitStatus, Kernel, KernelCallbacks } from '../../kernel/index.ts'
import type { ProcessPlaces } from './process-places.ts'
import type { ProcessRecords } from './process-records.ts'

/** How far a process is. */
export interface Progress {
  readonly step: number
  readonly total: number
}

const NOT_BEGUN: Progress = { step: 0, total: 0 }

/** Records what the kernel tells of its processes, and takes those apart that nobody else waits for. */
export class RecordedProcesses implements KernelCallbacks {
  readonly #records: ProcessRecords
  readonly #places: ProcessPlaces
  readonly #kernel: () => Kernel
  readonly #progress = new Map<number, Progress>()

  constructor(records: ProcessRecords, places: ProcessPlaces, kernel: () => Kernel) {
    this.#records = records
    this.#places = places
    this.#kernel = kernel
  }

  progressOf(pid: number): Progress {
    return this.#progress.get(pid) ?? NOT_BEGUN
  }

  onSpawn(pid: number, intent: string, provider: string, model: string): void {
    const { uuid, ppid, createdAt } = this.#kernel().table.get(pid)
    const { agent = null, fork = null, vault = null } = this.#places.find(pid) ?? {}
    const notYet = { ended_at: null, exit_code: null, reason: '', result: '', tokens_used: 0 }
    const started_at = createdAt.toISOString()
    const what = { pid, uuid, ppid, intent, agent, provider, model, fork, vault, started_at }
    this.#records.add({ ...what, state: 'running', ...notYet })
  }

  onStep(pid: number, step: number, total: number): void {
    this.#progress.set(pid, { step, total })
  }

  onComplete(pid: number, result: string, { code: exit_code, reason }: ExitStatus): void {
    const { table, processes } = this.#kernel()
    const process = table.find(pid)
    this.#records.end(pid, { result, exit_code, reason, tokens_used: process?.tokensUsed ?? 0 })
    // A child is its parent's to wait for.
    if (process?.ppid === 0) void processes.wait(pid).catch(() => {})
  }
}
