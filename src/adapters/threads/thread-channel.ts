import type { MessagePort } from 'node:worker_threads'
import type {
  DirEntry,
  MkdirOptions,
  OpenOptions,
  RealpathOptions,
  RemoveOptions,
  RenameOptions,
  StatChanges,
  SyncStat,
  VfsErrorJson,
} from '../../vfs/index.ts'

/** Data for the connecting thread; pass it with `port` in the transfer list. */
export interface ThreadChannel {
  readonly port: MessagePort
  /** Shared by both threads; the cells below. */
  readonly cells: SharedCells
  /** One cell. While it is not 0, calls are cancelled; the thread that set it clears it. */
  readonly cancelled: SharedCells
}

/** Numbers in memory that two threads share. */
export type SharedCells = Int32Array<SharedArrayBuffer>

/** Grows whenever a blocked caller must check the channel. */
export const WAKE = 0
/** Not 0 once the other side has closed. */
export const CLOSED = 1
/** Grows for as long as the serving thread lives. */
export const HEARTBEAT = 2
export const CELL_COUNT = 3

/** Cancel value: the number of SIGINT, so that an interpreter's interrupt flag can be the same cell. */
export const CANCEL = 2

/** Limit of file content in one message. */
export const PIECE_BYTES: number = 1024 * 1024

/** Remote calls: a synchronous file system and its open files, by number. */
export interface RemoteCalls {
  stat(path: string): SyncStat
  readdir(path: string): DirEntry[]
  mkdir(path: string, options: MkdirOptions): void
  remove(path: string, options: RemoveOptions): void
  rmdir(path: string): void
  rename(from: string, to: string, options: RenameOptions): void
  symlink(target: string, path: string): void
  readlink(path: string): string
  realpath(path: string, options: RealpathOptions): string
  link(existing: string, path: string): void
  setattr(path: string, changes: StatChanges): void
  open(path: string, options: OpenOptions): number
  readOpen(file: number, position: number, length: number): Uint8Array
  writeOpen(file: number, position: number, bytes: Uint8Array): void
  truncateOpen(file: number, size: number): void
  statOpen(file: number): SyncStat
  syncOpen(file: number): void
  closeOpen(file: number): void
}

export type RemoteCallName = keyof RemoteCalls

/** One call, numbered so that a late response to a cancelled one is recognised. */
export type ThreadRequest<Name extends RemoteCallName = RemoteCallName> = {
  [Each in Name]: {
    readonly id: number
    readonly name: Each
    readonly args: Parameters<RemoteCalls[Each]>
    /** As in a call context. */
    readonly links?: 'refuse'
  }
}[Name]

/** Cancels a call. */
export interface Cancellation {
  readonly cancel: number
}

export type ThreadResponse<Name extends RemoteCallName = RemoteCallName> =
  | { readonly id: number; readonly value: ReturnType<RemoteCalls[Name]> }
  | { readonly id: number; readonly error: VfsErrorJson }

/** Wakes a blocked caller to check the cells and the port. */
export function wake(cells: SharedCells): void {
  Atomics.add(cells, WAKE, 1)
  Atomics.notify(cells, WAKE)
}

/** Creates shared numbers, all 0. */
export function createSharedCells(count: number): SharedCells {
  return new Int32Array(new SharedArrayBuffer(count * Int32Array.BYTES_PER_ELEMENT))
}
