import { VfsError } from '../../vfs/index.ts'
import type { DeviceFile } from '../device/index.ts'

/** 0, 1 and 2 are those of every program. */
const FIRST_FD = 3

/** An open file of a process. */
export interface OpenDescriptor {
  readonly fd: number
  readonly path: string
  readonly file: DeviceFile
}

/** The open files of one process. Numbers are not used twice. */
export class DescriptorTable {
  readonly #open = new Map<number, OpenDescriptor>()
  #next = FIRST_FD
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
    return this.#getDescriptor(fd).file
  }

  /** EBADF if it is not open, also for the second of two who close it at once. */
  async close(fd: number): Promise<void> {
    const { file } = this.#getDescriptor(fd)
    this.#open.delete(fd)
    await file.close()
  }

  list(): readonly OpenDescriptor[] {
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

  #getDescriptor(fd: number): OpenDescriptor {
    const found = this.#open.get(fd)
    if (found !== undefined) return found
    throw new VfsError('EBADF', String(fd), { op: 'fd', detail: `there is no open file ${fd}` })
  }
}
