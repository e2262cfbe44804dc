import { VfsError } from '../../vfs/index.ts'
import type { Process } from '../process/process.ts'
import type { ProcessTable } from '../process/process-table.ts'

/** A concurrent part of a process. It shares the context of the process and ends with it. */
export interface Thread {
  readonly tid: number
  readonly parentPid: number
  readonly intent: string
  readonly state: 'running' | 'done' | 'failed'
  readonly result: string
  readonly error: string | undefined
}

/** The work of a thread: returns its result as text, and ends when the signal is aborted. */
export type ThreadProgram = (signal: AbortSignal) => Promise<string>

/** Starts, lists and joins threads of processes. */
export interface ThreadManager {
  /** Starts a thread and returns its number. ENOENT for a process that has ended. */
  spawnThread(pid: number, intent: string, program: ThreadProgram): number
  threads(pid: number): readonly Thread[]
  /** Waits for the end of a thread. ENOENT if there is none. */
  joinThread(pid: number, tid: number): Promise<Thread>
}

/** A thread that runs or has ended. */
interface StartedThread {
  thread: Thread
  readonly ended: Promise<void>
}

export class Threads implements ThreadManager {
  readonly #table: ProcessTable
  readonly #threads = new Map<number, Map<number, StartedThread>>()
  #lastTid = 0

  constructor(table: ProcessTable) {
    this.#table = table
  }

  spawnThread(pid: number, intent: string, program: ThreadProgram): number {
    const process = this.#table.getAlive(pid)
    const tid = ++this.#lastTid
    const first: Thread = { tid, parentPid: pid, intent, state: 'running', result: '', error: undefined }
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    const started: StartedThread = { thread: first, ended }
    const own = this.#threads.get(pid) ?? new Map<number, StartedThread>()
    this.#threads.set(pid, own.set(tid, started))
    void this.#run(started, program, process.signal).finally(resolve)
    return tid
  }

  threads(pid: number): readonly Thread[] {
    return [...(this.#threads.get(pid)?.values() ?? [])].map(({ thread }) => thread)
  }

  async joinThread(pid: number, tid: number): Promise<Thread> {
    const started = this.#threads.get(pid)?.get(tid)
    if (started === undefined) {
      throw new VfsError('ENOENT', `/proc/${pid}`, { op: 'join', detail: `there is no thread ${tid}` })
    }
    await started.ended
    return started.thread
  }

  /** Waits for the threads of a cancelled process and removes them. */
  async clear({ pid }: Process): Promise<void> {
    await Promise.all([...(this.#threads.get(pid)?.values() ?? [])].map(({ ended }) => ended))
    this.#threads.delete(pid)
  }

  async #run(started: StartedThread, program: ThreadProgram, signal: AbortSignal): Promise<void> {
    try {
      started.thread = { ...started.thread, result: await program(signal), state: 'done' }
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      started.thread = { ...started.thread, error: message, state: 'failed' }
    }
  }
}
