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
  readonly #descriptors = new Map<number, OpenDescriptor>()
  #next = FIRST_FD
  #isEnded = false

  /** Adds an open file and returns its number. If the process has ended, closes the file: EBADF. */
  async add(path: string, file: DeviceFile): Promise<number> {
    if (this.#isEnded) {
      await file.close()
      throw new VfsError('EBADF', path, { op: 'open', detail: 'the process has ended' })
    }
    const fd = this.#next++
    this.#descriptors.set(fd, { fd, path, file })
    return fd
  }

  /** Returns an open file. EBADF if the number is not one. */
  get(fd: number): DeviceFile {
    return this.#getDescriptor(fd).file
  }

  /** Closes a file. EBADF if it is not open, also for the second of two concurrent closes. */
  async close(fd: number): Promise<void> {
    const { file } = this.#getDescriptor(fd)
    this.#descriptors.delete(fd)
    await file.close()
  }

  list(): readonly OpenDescriptor[] {
    return [...this.#descriptors.values()]
  }

  /** Closes every file, even if one fails, and allows no further opens. Returns the errors. */
  async closeAll(): Promise<readonly unknown[]> {
    this.#isEnded = true
    const files = this.list()
    this.#descriptors.clear()
    const results = await Promise.allSettled(files.map(async ({ file }) => file.close()))
    return results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  }

  #getDescriptor(fd: number): OpenDescriptor {
    const found = this.#descriptors.get(fd)
    if (found !== undefined) return found
    throw new VfsError('EBADF', String(fd), {
      op: 'fd',
      detail: `file ${fd} is not open; open a file and use its number`,
    })
  }
}
