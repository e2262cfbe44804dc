import {
  Backend,
  basename,
  byteStream,
  type CallContext,
  type Capability,
  type Content,
  collect,
  type DirEntry,
  dirname,
  type FileHandle,
  isVfsError,
  isWithin,
  type Openable,
  type OpenOptions,
  type ReadOptions,
  type Stat,
  VfsError,
} from '../../vfs/index.ts'
import { readAllBytes } from './call-device.ts'
import {
  type DeviceContext,
  type DeviceEntry,
  type DeviceFile,
  O_RDONLY,
  O_RDWR,
  O_WRONLY,
} from './device.ts'
import { DeviceHandle } from './device-handle.ts'
import type { DeviceRegistry } from './device-registry.ts'

/** Maps a call's context to the device context of the calling process. */
export type DeviceContextProvider = (ctx: CallContext | undefined) => DeviceContext

const EPOCH = new Date(0)

/**
 * The devices below a path as a file system to mount. Files that a device lists can be read directly. A device itself is
 * opened for requests, or written to if its response is not needed.
 */
export class DeviceFs extends Backend implements Openable {
  readonly capabilities: ReadonlySet<Capability> = new Set(['read', 'write', 'open'])
  readonly #devices: DeviceRegistry
  readonly #root: string
  readonly #getContext: DeviceContextProvider

  constructor(devices: DeviceRegistry, root: string, getContext: DeviceContextProvider) {
    super()
    this.#devices = devices
    this.#root = root
    this.#getContext = getContext
  }

  open(path: string, { write = false }: OpenOptions = {}, ctx?: CallContext): Promise<FileHandle> {
    return this.call('open', path, ctx, async (checkedPath) => {
      const file = await this.#open(checkedPath, write ? O_RDWR : O_RDONLY, ctx)
      return new DeviceHandle(file)
    })
  }

  protected async doStat(path: string, ctx?: CallContext): Promise<Stat> {
    const type = await this.#getType(path, ctx)
    const size = type === 'file' ? (await this.#readContent(path, ctx)).length : 0
    return { type: type === 'device' ? 'other' : type, size, mtime: EPOCH, mode: null }
  }

  protected async *doReaddir(path: string, ctx?: CallContext): AsyncGenerator<DirEntry> {
    const type = await this.#getType(path, ctx)
    if (type !== 'directory') throw new VfsError('ENOTDIR', path, { op: 'readdir' })
    for (const { name, type: kind } of await this.#listEntries(path, ctx)) {
      yield { name, type: kind === 'device' ? 'other' : kind }
    }
  }

  protected async *doRead(path: string, options: ReadOptions, ctx?: CallContext): AsyncGenerator<Uint8Array> {
    if ((await this.#getType(path, ctx)) === 'directory') throw new VfsError('EISDIR', path, { op: 'read' })
    yield* byteStream(await this.#readContent(path, ctx), path, options)
  }

  protected override async doWrite(
    path: string,
    content: Content,
    _options: object,
    ctx?: CallContext,
  ): Promise<void> {
    const bytes = await collect(content)
    const file = await this.#open(path, O_WRONLY, ctx)
    try {
      await file.write(bytes, ctx?.signal)
    } finally {
      await file.close()
    }
  }

  async #readContent(path: string, ctx: CallContext | undefined): Promise<Uint8Array> {
    const file = await this.#open(path, O_RDONLY, ctx)
    try {
      return await readAllBytes(file)
    } finally {
      await file.close()
    }
  }

  #open(path: string, mode: 0 | 1 | 2, ctx: CallContext | undefined): Promise<DeviceFile> {
    return this.#withMountPath(() =>
      this.#devices.open(this.#toDevicePath(path), mode, this.#getContext(ctx)),
    )
  }

  /** Returns the type of a path. ENOENT if no device serves it. */
  async #getType(path: string, ctx: CallContext | undefined): Promise<DeviceEntry['type']> {
    const devicePath = this.#toDevicePath(path)
    const { pid } = this.#getContext(ctx)
    if (path === '/' || this.#listNamesBelow(devicePath, pid).size > 0) return 'directory'
    const found = await this.#withMountPath(async () => this.#devices.resolve(devicePath, pid))
    if (found.subpath === '') return found.device.list === undefined ? 'device' : 'directory'
    const siblings = await this.#listEntries(dirname(path), ctx)
    const entry = siblings.find(({ name }) => name === basename(path))
    if (entry !== undefined) return entry.type
    // A device without `list` may still accept the path.
    if (found.device.list === undefined) return 'device'
    throw new VfsError('ENOENT', path, { op: 'stat' })
  }

  /** Lists the devices registered below a path and the entries of the device at that path. */
  async #listEntries(path: string, ctx: CallContext | undefined): Promise<DeviceEntry[]> {
    const devicePath = this.#toDevicePath(path)
    const entries = new Map<string, DeviceEntry>()
    const caller = this.#getContext(ctx)
    const found = this.#devices.find(devicePath, caller.pid)
    const list = async () => found?.device.list?.(found.subpath, caller)
    const listed = (await this.#withMountPath(list)) ?? []
    for (const entry of listed) entries.set(entry.name, entry)
    for (const name of this.#listNamesBelow(devicePath, caller.pid)) {
      const entryPath = `${devicePath}/${name}`
      const device = this.#devices.find(entryPath, caller.pid)
      const isLeaf = device?.subpath === '' && device.device.list === undefined
      const hasDevicesBelow = this.#listNamesBelow(entryPath, caller.pid).size > 0
      entries.set(name, { name, type: isLeaf && !hasDevicesBelow ? 'device' : 'directory' })
    }
    return [...entries.values()].sort((one, other) => (one.name < other.name ? -1 : 1))
  }

  /** Returns the next path segment of every device below a path that the process can see. */
  #listNamesBelow(parent: string, pid: number): Set<string> {
    const visible = this.#devices.listPaths(pid).filter((path) => path !== parent && isWithin(path, parent))
    return new Set(visible.map((path) => path.slice(parent.length + 1).split('/')[0] ?? ''))
  }

  /** Strips the mount root from error paths: devices use full paths, and the mount table prepends its own prefix. */
  async #withMountPath<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      if (!isVfsError(error) || !isWithin(error.path, this.#root)) throw error
      throw VfsError.withPath(error, error.path.slice(this.#root.length) || '/')
    }
  }

  #toDevicePath(path: string): string {
    return path === '/' ? this.#root : `${this.#root}${path}`
  }
}
