import type { SyncStat } from '../../vfs/index.ts'

/** An answer that may come later. */
export type Awaitable<T> = T | Promise<T>

/** An open file of somebody who waits for it. */
export interface AwaitableFile {
  read(position: number, length: number): Awaitable<Uint8Array>
  write(position: number, bytes: Uint8Array): Awaitable<void>
  truncate(size: number): Awaitable<void>
  stat(): Awaitable<SyncStat>
  sync(): Awaitable<void>
  close(): Awaitable<void>
}
