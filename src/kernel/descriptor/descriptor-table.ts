import { VfsError } from '../../vfs/index.ts'
import type { DeviceFile } from '../device/index.ts'

/** 0, 1 and 2 are the standard streams. */
const FIRST_FD = 3

/** An open file of a process. */
export interface OpenDescriptor {
  readonly fd: number
  readonly path: string
  readonly file: DeviceFile
}

/** The open files of one process. Numbers are never reused. */
export class DescriptorTable {
  readonly #open = new Map<number, OpenDescriptor>()
  #next = FIRST_FD
  #isEnded = false

  /** Closes the file and throws EBADF if the process has ended. */
  async add(path: string, file: DeviceFile): Promise<number> {
    if (this.#isEnded) {
      await file.close()
      throw new VfsError('EBADF', path, { op: 'open', detail: 'the process has ended' })
    }
    const fd = this.#next++
    this.#open.set(fd, { fd, path, file })
    return fd
  }

  /** EBADF. */
  get(fd: number): DeviceFile {
    return this.#getDescriptor(fd).file
  }

  /** Throws EBADF if it is not open, also for the second of two concurrent closes. */
  async close(fd: number): Promise<void> {
    const { file } = this.#getDescriptor(fd)
    this.#open.delete(fd)
    await file.close()
  }

  list(): readonly OpenDescriptor[] {
    return [...this.#open.values()]
  }

  /** Closes every file, even if one fails, and allows no further opens. Returns the errors. */
  async closeAll(): Promise<readonly unknown[]> {
    this.#isEnded = true
    const files = this.list()
    this.#open.clear()
    const ends = await Promise.allSettled(files.map(async ({ file }) => file.close()))
    return ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []))
  }

  #getDescriptor(fd: number): OpenDescriptor {
    const found = this.#open.get(fd)
    if (found !== undefined) return found
    throw new VfsError('EBADF', String(fd), {
      op: 'fd',
      detail: `file ${fd} is not open; open a file and use its number`,
    })
  }
}
