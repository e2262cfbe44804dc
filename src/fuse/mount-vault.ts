import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { closeSync } from 'node:fs'
import type { HomePlace } from '../backends/vault/index.ts'
import { startThread } from '../machine/index.ts'
import type { Caller } from '../vfs/index.ts'
import { Mount, sharedNumber } from './mount.ts'
import { type MountSettings, mountDevice } from './mounting/mount-command.ts'
import { type MountPlace, openFor } from './mounting/open-for.ts'
import { dropStaleContent, settleWhenQuiet, tellOfOthers } from './upkeep.ts'
import type { VaultWork } from './vault-work.ts'
import { newWakeName } from './wake-file.ts'

export interface VaultMountOptions extends MountPlace, Omit<MountSettings, 'source'> {
  readonly home: HomePlace
  readonly vault: string
  /** Who does what is done in it, for the journal. */
  readonly caller?: Caller
}

/**
 * Mounts a vault and serves it in a thread of its own. It can be used when this resolves. ENOENT for no such vault or
 * directory, ENOTSUP, EACCES and EPERM where this machine or user cannot mount.
 */
export async function mountVault(options: VaultMountOptions): Promise<Mount> {
  const { home, vault, isReadOnly = false, allowsOthers = process.getuid?.() === 0 } = options
  const { fd, directory, isMounted } = await openFor(options)
  const [waiting, ending] = [sharedNumber(), sharedNumber()]
  const trace = `mount-${randomBytes(6).toString('hex')}`
  const { caller } = options
  const shared = { fd, home, vault, trace, waiting, ending, directory, wakeName: newWakeName() }
  const work: VaultWork = { ...shared, ...(caller !== undefined && { caller }) }
  const worker = startThread(import.meta.url, 'vault-worker', { workerData: work })
  try {
    await once(worker, 'message')
    const settings = { source: `coppice:${vault}`, isReadOnly, allowsOthers }
    if (!isMounted) await mountDevice(fd, directory, settings)
  } catch (error) {
    await worker.terminate()
    closeSync(fd)
    throw error
  }
  worker.postMessage('mounted')
  const endDropping = dropStaleContent(work, worker)
  return withUpkeep(work, new Mount(directory, worker, { fd, ending }), endDropping)
}

/** Looks after a mount until it ends. */
async function withUpkeep(work: VaultWork, mount: Mount, endDropping: () => Promise<void>): Promise<Mount> {
  const ending = new AbortController()
  const stop = settleWhenQuiet(work)
  const { promise: isReady, resolve } = Promise.withResolvers<void>()
  // Without it, what others change is seen late; the mount itself goes on.
  const telling = tellOfOthers(work, ending.signal, resolve).catch(() => resolve())
  mount.beforeClose(async () => {
    await stop()
    await endDropping()
    ending.abort()
    await telling
  })
  await isReady
  return mount
}
