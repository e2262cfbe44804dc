import { VfsError } from '../../vfs/index.ts'
import type { Process } from './process.ts'

/** All processes by number. Numbers start at 1 and are never reused; 0 is the kernel. */
export class ProcessTable {
  readonly #processes = new Map<number, Process>()
  #last: number

  /** @param last last number given by a previous kernel. */
  constructor(last = 0) {
    this.#last = last
  }

  allocatePid(): number {
    return ++this.#last
  }

  /** Makes the kernel the parent if the parent has been removed. */
  add(process: Process): void {
    this.#processes.set(process.pid, process)
    const parent = this.find(process.ppid)
    if (parent === undefined) process.ppid = 0
    else parent.children.add(process.pid)
  }

  find(pid: number): Process | undefined {
    return this.#processes.get(pid)
  }

  /** ENOENT. */
  get(pid: number): Process {
    const process = this.#processes.get(pid)
    if (process !== undefined) return process
    throw new VfsError('ENOENT', `/proc/${pid}`, { op: 'process', detail: `there is no process ${pid}` })
  }

  /** Returns a process that has not ended. ENOENT. */
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
