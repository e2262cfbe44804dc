import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { closeSync } from 'node:fs'
import type { HomeLocation } from '../backends/vault/index.ts'
import { startThread } from '../machine/index.ts'
import type { Caller } from '../vfs/index.ts'
import { createSharedNumber, FuseMount } from './fuse-mount.ts'
import { commitWhenIdle, dropStaleContent, notifyForeignChanges, shipOnSync } from './mount-maintenance.ts'
import { type FuseMountSettings, mountDevice } from './mounting/mount-command.ts'
import { type MountTarget, openMountDevice } from './mounting/open-mount-device.ts'
import type { VaultWorkerData } from './vault-worker-data.ts'
import { createWakeName } from './wake-file.ts'

export interface VaultMountOptions extends MountTarget, Omit<FuseMountSettings, 'source'> {
  readonly home: HomeLocation
  readonly vault: string
  /** Caller recorded in the journal for changes through the mount. */
  readonly caller?: Caller
  /**
   * Refuses extended attributes: programs get ENOTSUP. The kernel then no longer looks for capabilities before the first
   * write to a file and before each change of its owner, which is one request in five of `tar x`.
   */
  readonly withoutXattrs?: boolean
  /** Makes everything durable elsewhere, too: `fsync` waits for it. */
  readonly flush?: () => Promise<void>
}

/**
 * Mounts a vault and serves it in its own thread. ENOENT if the vault or directory does not exist; EEXIST if coppice has a
 * mount there; ENOTSUP, EACCES or EPERM if this machine or user cannot mount; EIO if mounting fails otherwise.
 */
export async function mountVault(options: VaultMountOptions): Promise<FuseMount> {
  const { home, vault, isReadOnly = false, allowsOthers = process.getuid?.() === 0 } = options
  const { caller, flush, withoutXattrs = false } = options
  const { fd, directory, isMounted } = await openMountDevice(options)
  const [waiting, ending] = [createSharedNumber(), createSharedNumber()]
  const trace = `mount-${randomBytes(6).toString('hex')}`
  const wakeName = createWakeName()
  const shared = { fd, home, vault, trace, waiting, ending, directory, wakeName, withoutXattrs }
  const shipped = flush && createSharedNumber()
  const work: VaultWorkerData = { ...shared, ...(caller && { caller }), ...(shipped && { shipped }) }
  const worker = startThread(import.meta.url, 'vault-worker', { workerData: work })
  if (flush !== undefined && shipped !== undefined) shipOnSync(shipped, worker, flush)
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
  return startMaintenance(work, new FuseMount(directory, worker, { fd, ending }), endDropping)
}

/** Starts the maintenance tasks of a mount, which run until it ends. Returns the mount once changes by others are watched. */
async function startMaintenance(
  work: VaultWorkerData,
  mount: FuseMount,
  endDropping: () => Promise<void>,
): Promise<FuseMount> {
  const watching = new AbortController()
  const stopCommitting = commitWhenIdle(work)
  const { promise: isReady, resolve } = Promise.withResolvers<void>()
  // If it fails, changes by others become visible late; the mount continues.
  const notifying = notifyForeignChanges(work, watching.signal, resolve).catch(() => resolve())
  mount.beforeClose(async () => {
    await stopCommitting()
    await endDropping()
    watching.abort()
    await notifying
  })
  await isReady
  return mount
}
