import { VfsError } from '../../vfs/index.ts'
import type { Process } from '../process/process.ts'
import type { ProcessTable } from '../process/process-table.ts'

/** Result of one resume: a yielded or final value. */
export interface YieldResult {
  readonly value: unknown
  readonly isDone: boolean
}

/** Yields values and receives one at each resume. */
export type CoroutineProgram = (signal: AbortSignal) => AsyncGenerator<unknown, unknown, unknown>

/** Starts and resumes coroutines of processes. */
export interface CoroutineManager {
  /** Creates a suspended coroutine and returns its number. ENOENT for a process that has ended. */
  spawnCoroutine(pid: number, program: CoroutineProgram): number
  /** Resumes it with a value until its next yield. ENOENT once it is done. */
  resume(pid: number, coid: number, value?: unknown): Promise<YieldResult>
}

export class Coroutines implements CoroutineManager {
  readonly #table: ProcessTable
  readonly #coroutines = new Map<number, Map<number, AsyncGenerator<unknown, unknown, unknown>>>()
  #last = 0

  constructor(table: ProcessTable) {
    this.#table = table
  }

  spawnCoroutine(pid: number, program: CoroutineProgram): number {
    const { signal } = this.#table.getAlive(pid)
    const coid = ++this.#last
    const own = this.#coroutines.get(pid) ?? new Map<number, AsyncGenerator<unknown, unknown, unknown>>()
    this.#coroutines.set(pid, own.set(coid, program(signal)))
    return coid
  }

  async resume(pid: number, coid: number, value?: unknown): Promise<YieldResult> {
    const own = this.#coroutines.get(pid)
    const coroutine = own?.get(coid)
    if (coroutine === undefined) {
      throw new VfsError('ENOENT', `/proc/${pid}`, { op: 'resume', detail: `there is no coroutine ${coid}` })
    }
    const { value: yielded, done = false } = await coroutine.next(value)
    if (done) own?.delete(coid)
    return { value: yielded, isDone: done }
  }

  /** Ends the coroutines of a process, suspended or running. */
  async clear({ pid }: Process): Promise<void> {
    const own = [...(this.#coroutines.get(pid)?.values() ?? [])]
    this.#coroutines.delete(pid)
    await Promise.allSettled(own.map(async (coroutine) => coroutine.return(undefined)))
  }
}
