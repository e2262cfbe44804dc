import { write } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Worker } from 'node:worker_threads'
import { openHome } from '../backends/vault/index.ts'
import { startThread } from '../machine/index.ts'
import { encodeInvalidEntry, encodeInvalidInode } from './protocol/index.ts'
import type { IdleWorkerData } from './quiet-worker.ts'
import type { VaultWorkerData } from './vault-worker-data.ts'

const send = promisify(write)

/**
 * Tells the kernel of what others change in a vault, until the signal says stop. Not done by the thread that serves:
 * the kernel may take a notice only once a request is answered.
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
 * Has the kernel drop what it has cached of files to which it appended elsewhere than it thought, as the serving thread
 * reports them. Returns what ends it, once everything reported was dropped.
 */
export function dropStaleContent({ fd }: VaultWorkerData, server: Worker): () => Promise<void> {
  const stale = new Set<number>()
  let dropping: Promise<void> | undefined
  const drop = async () => {
    for (const ino of stale) {
      // Taken out before: it may be reported again meanwhile.
      stale.delete(ino)
      await sendNotice(fd, encodeInvalidInode(ino))
    }
    dropping = undefined
  }
  server.on('message', (ino: number) => {
    stale.add(ino)
    dropping ??= drop()
  })
  return async () => {
    await dropping
  }
}

/**
 * Has what waits in the server committed when nothing else comes that it could go with. Returns what stops it. It is a
 * thread of its own: this one may itself be waiting for the store, which the server holds until then.
 */
export function commitWhenIdle({ fd, waiting, directory, wakeName }: VaultWorkerData): () => Promise<void> {
  const work: IdleWorkerData = { fd, waiting, directory, wakeFile: join(directory, wakeName) }
  const worker = startThread(import.meta.url, 'quiet-worker', { workerData: work })
  worker.unref()
  // Without it, changes are seen when more of them come.
  worker.on('error', () => {})
  return async () => {
    await worker.terminate()
  }
}

/** The kernel refuses a notice of what it does not remember anyway, and every one when the mount is gone. */
async function sendNotice(fd: number, notice: Buffer): Promise<void> {
  await send(fd, notice, 0, notice.length, null).catch(() => {})
}
