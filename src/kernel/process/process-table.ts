import { VfsError } from '../../vfs/index.ts'
import type { Process } from './process.ts'

/** All processes by number. Numbers start at 1 and are never reused; 0 is the kernel. */
export class ProcessTable {
  readonly #processes = new Map<number, Process>()
  #lastPid: number

  /** @param lastPid last number given by a previous kernel. */
  constructor(lastPid = 0) {
    this.#lastPid = lastPid
  }

  allocatePid(): number {
    return ++this.#lastPid
  }

  /** Adds a process. The kernel becomes its parent if that has been removed. */
  add(process: Process): void {
    this.#processes.set(process.pid, process)
    const parent = this.find(process.ppid)
    if (parent === undefined) process.ppid = 0
    else parent.children.add(process.pid)
  }

  find(pid: number): Process | undefined {
    return this.#processes.get(pid)
  }

  /** Returns a process. ENOENT if there is none. */
  get(pid: number): Process {
    const process = this.#processes.get(pid)
    if (process !== undefined) return process
    throw new VfsError('ENOENT', `/proc/${pid}`, { op: 'process', detail: `there is no process ${pid}` })
  }

  /** Returns a process that has not ended; ENOENT otherwise. */
  getAlive(pid: number): Process {
    const process = this.get(pid)
    if (process.state === 'created' || process.state === 'running') return process
    throw new VfsError('ENOENT', `/proc/${pid}`, { op: 'process', detail: `process ${pid} has ended` })
  }

  remove(pid: number): void {
    const process = this.#processes.get(pid)
    if (process === undefined) return
    this.find(process.ppid)?.children.delete(pid)
    this.#processes.delete(pid)
  }

  list(): Process[] {
    return [...this.#processes.values()]
  }
}
