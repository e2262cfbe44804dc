import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { closeSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'
import type { Caller } from '../vfs/index.ts'
import { type MountSettings, mountDevice, openDevice } from './mounting/mount-command.ts'
import { sweepStale } from './mounting/mount-list.ts'
import { settleWhenQuiet, tellOfOthers } from './upkeep.ts'
import { VaultMount } from './vault-mount.ts'
import type { HomePlace, VaultWork } from './vault-work.ts'

export interface VaultMountOptions extends Omit<MountSettings, 'source'> {
  readonly home: HomePlace
  readonly vault: string
  /** An existing directory of this machine. */
  readonly directory: string
  /** Who does what is done in it, for the journal. */
  readonly caller?: Caller
}

/**
 * Mounts a vault and serves it in a thread of its own. It can be used when this resolves. ENOENT for no such vault or
 * directory, ENOTSUP, EACCES and EPERM where this machine or user cannot mount.
 */
export async function mountVault(options: VaultMountOptions): Promise<VaultMount> {
  sweepStale()
  const directory = await realpath(options.directory)
  const { home, vault, isReadOnly = false, allowsOthers = process.getuid?.() === 0 } = options
  const fd = openDevice()
  const waiting = new Int32Array(new SharedArrayBuffer(4))
  const trace = `mount-${randomBytes(6).toString('hex')}`
  const { caller } = options
  const work: VaultWork = { fd, home, vault, trace, waiting, ...(caller !== undefined && { caller }) }
  const worker = new Worker(workerFile(), { workerData: work })
  try {
    await once(worker, 'message')
    mountDevice(fd, directory, { source: `coppice:${vault}`, isReadOnly, allowsOthers })
  } catch (error) {
    await worker.terminate()
    closeSync(fd)
    throw error
  }
  worker.postMessage('mounted')
  return withUpkeep(work, new VaultMount(directory, worker, fd))
}

/** Looks after a mount until it ends. */
async function withUpkeep(work: VaultWork, mount: VaultMount): Promise<VaultMount> {
  const ending = new AbortController()
  const stop = settleWhenQuiet(mount.directory, work.waiting)
  const { promise: isReady, resolve } = Promise.withResolvers<void>()
  // Without it, what others change is seen late; the mount itself goes on.
  const telling = tellOfOthers(work, ending.signal, resolve).catch(() => resolve())
  mount.beforeClose(async () => {
    stop()
    ending.abort()
    await telling
  })
  await isReady
  return mount
}

/** The thread's program lies beside this one, as source or built. */
function workerFile(): URL {
  const name = import.meta.url.endsWith('.ts') ? './vault-worker.ts' : './vault-worker.js'
  return new URL(name, import.meta.url)
}
