import { write } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { promisify } from 'node:util'
import { openHome } from '../backends/vault/index.ts'
import { invalidEntry, invalidInode } from './protocol/index.ts'
import type { VaultWork } from './vault-work.ts'

const send = promisify(write)
/** How long attributes may wait for a change to be committed with. */
const SETTLE_MS = 20

/**
 * Tells the kernel of what others change in a vault, until the signal says stop. Not done by the thread that serves:
 * the kernel may take a notice only once a request is answered.
 */
export async function tellOfOthers(work: VaultWork, signal: AbortSignal, onReady: () => void): Promise<void> {
  await using home = await openHome(work.home)
  const news = home.foreignChanges(work.vault, { trace: work.trace, signal, onReady })
  for await (const { names, inodes } of news) {
    const notices = [
      ...names.map(({ parent, name }) => invalidEntry(parent, name)),
      ...inodes.map((ino) => invalidInode(ino)),
    ]
    for (const notice of notices) await sendIfKnown(work.fd, notice)
  }
}

/** Has what waits in the server committed when nothing else comes that it could go with. Returns what stops it. */
export function settleWhenQuiet(directory: string, waiting: Int32Array): () => void {
  let before = 0
  const timer = setInterval(() => {
    const count = Atomics.load(waiting, 0)
    // The server hears of nothing but requests: this is one that commits everything.
    if (count > 0 && count === before) statfs(directory).catch(() => {})
    before = count
  }, SETTLE_MS)
  timer.unref()
  return () => clearInterval(timer)
}

/** The kernel refuses a notice of what it does not remember anyway, and every one when the mount is gone. */
async function sendIfKnown(fd: number, notice: Buffer): Promise<void> {
  await send(fd, notice, 0, notice.length, null).catch(() => {})
}
