import type { SyncStat } from '../../vfs/index.ts'

/** A value, or a promise of it. */
export type Awaitable<T> = T | Promise<T>

/** An open file whose results may be promises. */
export interface AwaitableFile {
  read(position: number, length: number): Awaitable<Uint8Array>
  write(position: number, bytes: Uint8Array): Awaitable<void>
  truncate(size: number): Awaitable<void>
  stat(): Awaitable<SyncStat>
  sync(): Awaitable<void>
  close(): Awaitable<void>
}
