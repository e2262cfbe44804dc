import { VfsError } from '../../vfs/index.ts'
import type { Process } from '../process/process.ts'
import type { ProcessTable } from '../process/process-table.ts'

/** What a coroutine gave when it stopped to give something. */
export interface YieldResult {
  readonly value: unknown
  readonly isDone: boolean
}

/** Gives values and takes them, one at a time. */
export type CoroutineProgram = (signal: AbortSignal) => AsyncGenerator<unknown, unknown, unknown>

export interface CoroutineManager {
  /** Makes one, which waits to be resumed; its number. ENOENT. */
  spawnCoroutine(pid: number, program: CoroutineProgram): number
  /** Lets it go on with a value until it gives the next. ENOENT once it is done. */
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
      throw new VfsError('ENOENT', `/proc/${pid}`, { op: 'resume', detail: `it has no coroutine ${coid}` })
    }
    const { value: given, done = false } = await coroutine.next(value)
    if (done) own?.delete(coid)
    return { value: given, isDone: done }
  }

  /** Ends those of a process, whether they wait to be resumed or are on their way. */
  async clear({ pid }: Process): Promise<void> {
    const own = [...(this.#coroutines.get(pid)?.values() ?? [])]
    this.#coroutines.delete(pid)
    await Promise.allSettled(own.map(async (coroutine) => coroutine.return(undefined)))
  }
}
