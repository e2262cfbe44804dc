import { VfsError } from '../../vfs/index.ts'

/** Open objects by handle number, until the kernel releases them. */
export class HandleTable<T> {
  readonly #open = new Map<number, T>()
  #last = 0

  add(value: T): number {
    this.#open.set(++this.#last, value)
    return this.#last
  }

  /** EBADF for a handle that is not open. */
  get(handle: number): T {
    const value = this.#open.get(handle)
    if (value === undefined) throw new VfsError('EBADF', `handle ${handle}`)
    return value
  }

  /** Removes and returns an object. EBADF for a handle that is not open. */
  remove(handle: number): T {
    const value = this.get(handle)
    this.#open.delete(handle)
    return value
  }

  values(): T[] {
    return [...this.#open.values()]
  }
}
