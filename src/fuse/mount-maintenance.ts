import { write } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Worker } from 'node:worker_threads'
import { openHome } from '../backends/vault/index.ts'
import { startThread } from '../machine/index.ts'
import { encodeInvalidEntry, encodeInvalidInode } from './protocol/index.ts'
import type { IdleWorkerData } from './quiet-worker.ts'
import { SYNC_REQUEST, shipOutcomes, type VaultWorkerData } from './vault-worker-data.ts'

const send = promisify(write)

/**
 * Notifies the kernel of changes by others in a vault until the signal aborts. Calls `onReady` once it watches.
 * Not in the serving thread: the kernel may accept a notice only after a reply to a request.
 */
export async function notifyForeignChanges(
  work: VaultWorkerData,
  signal: AbortSignal,
  onReady: () => void,
): Promise<void> {
  await using home = await openHome(work.home)
  const news = home.watchForeignChanges(work.vault, { trace: work.trace, signal, onReady })
  for await (const { names, inodes } of news) {
    const notices = [
      ...names.map(({ parent, name }) => encodeInvalidEntry(parent, name)),
      ...inodes.map((ino) => encodeInvalidInode(ino)),
    ]
    for (const notice of notices) await sendNotice(work.fd, notice)
  }
}

/**
 * Drops the kernel's cached content of files whose appends went to another position than it assumed.
 * The serving thread reports them. Returns a function that waits until the files reported so far are dropped.
 */
export function dropStaleContent({ fd }: VaultWorkerData, server: Worker): () => Promise<void> {
  const stale = new Set<number>()
  let dropping: Promise<void> | undefined
  const drop = async () => {
    for (const ino of stale) {
      // Deleted first, because it may be reported again meanwhile.
      stale.delete(ino)
      await sendNotice(fd, encodeInvalidInode(ino))
    }
    dropping = undefined
  }
  server.on('message', (ino: unknown) => {
    if (typeof ino !== 'number') return
    stale.add(ino)
    dropping ??= drop()
  })
  return async () => {
    await dropping
  }
}

/**
 * Calls `flush`, which makes changes durable elsewhere, whenever the serving thread waits for that in an `fsync`.
 * @param shipped gets the outcome, one of `shipOutcomes`.
 */
export function shipOnSync(shipped: Int32Array, server: Worker, flush: () => Promise<void>): void {
  const finish = (outcome: number) => {
    Atomics.store(shipped, 0, outcome)
    Atomics.notify(shipped, 0)
  }
  server.on('message', (message: unknown) => {
    if (message !== SYNC_REQUEST) return
    flush().then(
      () => finish(shipOutcomes.done),
      () => finish(shipOutcomes.failed),
    )
  })
}

/**
 * Commits pending changes of the server when it is idle. Returns a function that stops it.
 * It runs in its own thread: this one may wait for the store, which the server locks until the commit.
 */
export function commitWhenIdle({ fd, waiting, directory, wakeName }: VaultWorkerData): () => Promise<void> {
  const work: IdleWorkerData = { fd, waiting, directory, wakeFile: join(directory, wakeName) }
  const worker = startThread(import.meta.url, 'quiet-worker', { workerData: work })
  worker.unref()
  // If it fails, changes become visible with the next ones.
  worker.on('error', () => {})
  return async () => {
    await worker.terminate()
  }
}

/**
 * Sends a notice and ignores failures. The kernel rejects a notice about something it has not cached, and every notice
 * after the mount has ended.
 */
async function sendNotice(fd: number, notice: Buffer): Promise<void> {
  await send(fd, notice, 0, notice.length, null).catch(() => {})
}
