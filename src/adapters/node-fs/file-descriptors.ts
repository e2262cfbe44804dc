import { createNodeError } from './node-error.ts'
import type { OpenNodeFile } from './open-node-file.ts'
import { createArgumentTypeError } from './parse-arguments.ts'

/** Far above the process's descriptors: a number passed to the real `fs` by mistake is EBADF there. */
const FIRST_DESCRIPTOR = 1_000_000

/** Open files by number. Allocates the lowest free number, as a kernel does. */
export class FileDescriptors {
  readonly #files = new Map<number, OpenNodeFile>()
  #next = FIRST_DESCRIPTOR
  readonly #free: number[] = []

  add(file: OpenNodeFile): number {
    const fd = this.#free.pop() ?? this.#next++
    this.#files.set(fd, file)
    return fd
  }

  /** Returns an open file. EBADF if the number is not one. */
  get(fd: unknown, syscall: string): OpenNodeFile {
    if (typeof fd !== 'number') throw createArgumentTypeError('fd', 'of type number', fd)
    const file = this.#files.get(fd)
    if (file === undefined) throw createNodeError('EBADF', { syscall })
    return file
  }

  /** Frees a number and returns its file, which stays open. EBADF if the number is not one. */
  release(fd: unknown): OpenNodeFile {
    const file = this.get(fd, 'close')
    if (typeof fd === 'number') {
      this.#files.delete(fd)
      this.#free.push(fd)
      this.#free.sort((a, b) => b - a)
    }
    return file
  }
}
