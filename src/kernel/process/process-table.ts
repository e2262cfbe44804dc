import { VfsError } from '../../vfs/index.ts'
import type { Process } from './process.ts'

/** Every process there is, by its number. Numbers begin at 1 and are not used twice; 0 is the kernel. */
export class ProcessTable {
  readonly #processes = new Map<number, Process>()
  #last: number

  /** @param last the number that was given last, by a kernel before this one. */
  constructor(last = 0) {
    this.#last = last
  }

  allocatePid(): number {
    return ++this.#last
  }

  /** One whose parent is gone meanwhile is the kernel's. */
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

  /** One that still runs, or is about to. ENOENT. */
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
