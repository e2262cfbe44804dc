import { VfsError } from '../../vfs/index.ts'
import type { DeviceFile } from '../device/index.ts'

/** 0, 1 and 2 are those of every program. */
const FIRST = 3

/** An open file of a process. */
export interface Descriptor {
  readonly fd: number
  readonly path: string
  readonly file: DeviceFile
}

/** The open files of one process. Numbers are not used twice. */
export class Descriptors {
  readonly #open = new Map<number, Descriptor>()
  #next = FIRST
  #isEnded = false

  /** EBADF once the process has ended; then the file is closed. */
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
    return this.#find(fd).file
  }

  /** EBADF if it is not open, also for the second of two who close it at once. */
  async close(fd: number): Promise<void> {
    const { file } = this.#find(fd)
    this.#open.delete(fd)
    await file.close()
  }

  list(): readonly Descriptor[] {
    return [...this.#open.values()]
  }

  /** Closes all, even if one fails; the failures. Nothing can be opened after it. */
  async closeAll(): Promise<readonly unknown[]> {
    this.#isEnded = true
    const files = this.list()
    this.#open.clear()
    const ends = await Promise.allSettled(files.map(async ({ file }) => file.close()))
    return ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []))
  }

  #find(fd: number): Descriptor {
    const found = this.#open.get(fd)
    if (found !== undefined) return found
    throw new VfsError('EBADF', String(fd), { op: 'fd', detail: `there is no open file ${fd}` })
  }
}
