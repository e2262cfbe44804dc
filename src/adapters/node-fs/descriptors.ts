import { wrongType } from './arguments.ts'
import { nodeError } from './node-error.ts'
import type { OpenFile } from './open-file.ts'

/** Far from what the process has open: a number that strays into the real `fs` is EBADF there. */
const FIRST = 1_000_000

/** Open files by number. The lowest free number is taken, as a kernel does. */
export class Descriptors {
  readonly #open = new Map<number, OpenFile>()
  #next = FIRST
  readonly #free: number[] = []

  add(file: OpenFile): number {
    const fd = this.#free.pop() ?? this.#next++
    this.#open.set(fd, file)
    return fd
  }

  /** EBADF. */
  get(fd: unknown, syscall: string): OpenFile {
    if (typeof fd !== 'number') throw wrongType('fd', 'of type number', fd)
    const file = this.#open.get(fd)
    if (file === undefined) throw nodeError('EBADF', { syscall })
    return file
  }

  /** Takes a number out of use. EBADF. */
  take(fd: unknown): OpenFile {
    const file = this.get(fd, 'close')
    if (typeof fd === 'number') {
      this.#open.delete(fd)
      this.#free.push(fd)
      this.#free.sort((a, b) => b - a)
    }
    return file
  }
}
