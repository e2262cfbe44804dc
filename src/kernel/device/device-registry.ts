import { dirname, isWithin, VfsError } from '../../vfs/index.ts'
import type { Device, DeviceContext, DeviceFile, DeviceTool, OpenMode } from './device.ts'
import { isVisibleTo } from './mount-owner.ts'

/** A path resolved to its device. */
export interface ResolvedDevice {
  /** Path at which the device is registered. */
  readonly root: string
  readonly device: Device
  /** Rest of the path, with its leading slash. */
  readonly subpath: string
}

/** A tool and its device. */
export interface RegisteredTool {
  readonly root: string
  readonly tool: DeviceTool
}

/** Devices by path. A device mounted for one process is invisible to others; pid 0 sees all. */
export class DeviceRegistry {
  readonly #devices = new Map<string, Device>()
  /** Paths in order, until a device is added or removed. */
  #sorted: readonly string[] | undefined
  /** Tools of each device as last seen: a device may change its own. */
  readonly #lastTools: (readonly DeviceTool[] | undefined)[] = []
  #toolRevision = 0

  /** Registers a device. EEXIST if the path has one. */
  register(path: string, device: Device): void {
    if (this.#devices.has(path)) throw new VfsError('EEXIST', path, { op: 'register' })
    this.#devices.set(path, device)
    this.#changePaths()
  }

  /** Removes the device of a path. ENOENT if there is none. */
  unregister(path: string): void {
    if (!this.#devices.delete(path)) throw new VfsError('ENOENT', path, { op: 'unregister' })
    this.#changePaths()
  }

  /** Returns the device at exactly this path, else at its longest prefix of whole names. ENOENT if there is none. */
  resolve(path: string, pid = 0): ResolvedDevice {
    const found = this.find(path, pid)
    if (found !== undefined) return found
    const detail = `there is no such device${this.#formatNearPaths(path, pid)}`
    throw new VfsError('ENOENT', path, { op: 'open', detail })
  }

  /** Like `resolve`, but returns undefined if there is no device. */
  find(path: string, pid = 0): ResolvedDevice | undefined {
    if (!isVisibleTo(pid, path)) return undefined
    const exact = this.#devices.get(path)
    if (exact !== undefined) return { root: path, device: exact, subpath: '' }
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const root = path.slice(0, end)
      const device = this.#devices.get(root)
      // An exact device hides any subpath of a prefix device.
      if (device !== undefined) {
        return device.match === 'prefix' ? { root, device, subpath: path.slice(end) } : undefined
      }
    }
    return undefined
  }

  async open(path: string, mode: OpenMode, ctx: DeviceContext): Promise<DeviceFile> {
    const { device, subpath } = this.resolve(path, ctx.pid)
    return device.open(subpath, mode, ctx)
  }

  listPaths(pid = 0): string[] {
    this.#sorted ??= [...this.#devices.keys()].sort()
    return this.#sorted.filter((path) => isVisibleTo(pid, path))
  }

  /** Returns the tools of the allowed devices; null allows all. */
  listTools(allowed: readonly string[] | null, pid = 0): RegisteredTool[] {
    return this.listPaths(pid)
      .filter((root) => allowed === null || allowed.some((path) => isWithin(root, path)))
      .flatMap((root) => (this.#devices.get(root)?.tools ?? []).map((tool) => ({ root, tool })))
  }

  /**
   * Returns a number that changes whenever a device is added or removed, or has other tools than before: with the same
   * number, `listTools` returns the same.
   */
  getToolRevision(): number {
    let index = 0
    for (const { tools } of this.#devices.values()) {
      if (this.#lastTools[index] !== tools) {
        this.#lastTools[index] = tools
        this.#toolRevision++
      }
      index++
    }
    return this.#toolRevision
  }

  #changePaths(): void {
    this.#sorted = undefined
    this.#toolRevision++
  }

  #formatNearPaths(path: string, pid: number): string {
    const near = this.listPaths(pid).filter((root) => isWithin(root, dirname(path)) || isWithin(path, root))
    return near.length === 0 ? '' : `; there is: ${near.join(', ')}`
  }
}
