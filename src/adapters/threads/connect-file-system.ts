import type {
  CallContext,
  DirEntry,
  MkdirOptions,
  OpenOptions,
  RealpathOptions,
  RemoveOptions,
  RenameOptions,
  StatChanges,
  SyncFileHandle,
  SyncFileSystem,
  SyncStat,
} from '../../vfs/index.ts'
import { BlockingChannel } from './blocking-channel.ts'
import { RemoteHandle } from './remote-handle.ts'
import type { ThreadChannel } from './thread-channel.ts'

/** Options of `connectFileSystem`. */
export interface ConnectOptions {
  /**
   * Time without a heartbeat of the other thread after which a call is EIO. It sends none
   * while it computes. Infinity, for a thread that lives as long as this one, when absent.
   */
  readonly timeoutMs?: number
}

/** A file system of another thread. Calls block this thread until their response. */
export interface ConnectedFileSystem extends SyncFileSystem, Disposable {
  /** Closes the channel. */
  close(): void
}

/** Connects to the file system that another thread shares on a channel. */
export function connectFileSystem(
  line: ThreadChannel,
  { timeoutMs = Number.POSITIVE_INFINITY }: ConnectOptions = {},
): ConnectedFileSystem {
  return new RemoteFileSystem(new BlockingChannel(line, timeoutMs))
}

class RemoteFileSystem implements ConnectedFileSystem {
  readonly #channel: BlockingChannel

  constructor(channel: BlockingChannel) {
    this.#channel = channel
  }

  stat(path: string, ctx?: CallContext): SyncStat {
    return this.#channel.call('stat', [path], ctx)
  }

  readdir(path: string, ctx?: CallContext): DirEntry[] {
    return this.#channel.call('readdir', [path], ctx)
  }

  open(path: string, options: OpenOptions = {}, ctx?: CallContext): SyncFileHandle {
    return new RemoteHandle(this.#channel, this.#channel.call('open', [path, options], ctx))
  }

  mkdir(path: string, options: MkdirOptions = {}, ctx?: CallContext): void {
    this.#channel.call('mkdir', [path, options], ctx)
  }

  remove(path: string, options: RemoveOptions = {}, ctx?: CallContext): void {
    this.#channel.call('remove', [path, options], ctx)
  }

  rmdir(path: string, ctx?: CallContext): void {
    this.#channel.call('rmdir', [path], ctx)
  }

  rename(from: string, to: string, options: RenameOptions = {}, ctx?: CallContext): void {
    this.#channel.call('rename', [from, to, options], ctx)
  }

  symlink(target: string, path: string, ctx?: CallContext): void {
    this.#channel.call('symlink', [target, path], ctx)
  }

  readlink(path: string, ctx?: CallContext): string {
    return this.#channel.call('readlink', [path], ctx)
  }

  realpath(path: string, options: RealpathOptions = {}, ctx?: CallContext): string {
    return this.#channel.call('realpath', [path, options], ctx)
  }

  link(existing: string, path: string, ctx?: CallContext): void {
    this.#channel.call('link', [existing, path], ctx)
  }

  setattr(path: string, changes: StatChanges, ctx?: CallContext): void {
    this.#channel.call('setattr', [path, changes], ctx)
  }

  close(): void {
    this.#channel.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }
}
