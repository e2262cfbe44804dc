import type { DeviceFile, OpenMode } from '../kernel/index.ts'
import { VfsError } from '../vfs/index.ts'

/** Opens a device; the signal ends its requests. */
type OpenDevice = (path: string, mode: OpenMode, signal: AbortSignal) => Promise<DeviceFile>

interface OpenedDevice {
  readonly file: DeviceFile
  /** The owning client's signal, aborted when it disconnects. */
  readonly client: AbortSignal
  readonly ending: AbortController
}

const MAX_OPEN_PER_CLIENT = 1000
const MAX_READ_BYTES = 4 * 1024 * 1024

/** The open devices of all clients, by number. Those of a client close, and their requests end, when it disconnects. */
export class OpenDevices {
  readonly #open: OpenDevice
  readonly #opened = new Map<number, OpenedDevice>()
  /** Number of devices that each client has open or is opening. */
  readonly #counts = new WeakMap<AbortSignal, number>()
  #last = 0

  constructor(open: OpenDevice) {
    this.#open = open
  }

  /** Opens a device. ENOENT; EUNAVAILABLE if the client has too many open. */
  async open(path: string, mode: OpenMode, client: AbortSignal): Promise<number> {
    if ((this.#counts.get(client) ?? 0) >= MAX_OPEN_PER_CLIENT) {
      const detail = `${MAX_OPEN_PER_CLIENT} devices are open already; close some first`
      throw new VfsError('EUNAVAILABLE', path, { op: 'open', detail })
    }
    // Counted before the device is open: a client may send many requests at once.
    this.#addCount(client, 1)
    try {
      return await this.#openCounted(path, mode, client)
    } catch (error) {
      this.#addCount(client, -1)
      throw error
    }
  }

  async #openCounted(path: string, mode: OpenMode, client: AbortSignal): Promise<number> {
    const ending = new AbortController()
    const file = await this.#open(path, mode, AbortSignal.any([client, ending.signal]))
    const handle = ++this.#last
    this.#opened.set(handle, { file, client, ending })
    const leave = () => void this.close(handle, client).catch(() => {})
    client.addEventListener('abort', leave, { once: true, signal: ending.signal })
    if (client.aborted) leave()
    return handle
  }

  /** EBADF. */
  async read(handle: number, length: number, client: AbortSignal): Promise<Uint8Array> {
    return this.#find(handle, client).file.read(Math.min(length, MAX_READ_BYTES))
  }

  /** EBADF. */
  async write(handle: number, bytes: Uint8Array, client: AbortSignal): Promise<void> {
    const { file, ending } = this.#find(handle, client)
    await file.write(bytes, AbortSignal.any([client, ending.signal]))
  }

  /** EBADF. */
  async close(handle: number, client: AbortSignal): Promise<void> {
    const { file, ending } = this.#find(handle, client)
    this.#opened.delete(handle)
    this.#addCount(client, -1)
    ending.abort(new VfsError('EBADF', '/', { op: 'close', detail: 'the device was closed meanwhile' }))
    await file.close()
  }

  #addCount(client: AbortSignal, change: number): void {
    this.#counts.set(client, (this.#counts.get(client) ?? 0) + change)
  }

  #find(handle: number, client: AbortSignal): OpenedDevice {
    const opened = this.#opened.get(handle)
    // A client cannot use the numbers of another.
    if (opened?.client === client) return opened
    throw new VfsError('EBADF', '/', { op: 'handle', detail: `there is no open device ${handle}` })
  }
}
