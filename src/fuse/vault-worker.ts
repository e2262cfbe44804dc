import { once } from 'node:events'
import { isMainThread, type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { openHome } from '../backends/vault/index.ts'
import { firstError } from '../machine/index.ts'
import { VfsError } from '../vfs/index.ts'
import { FuseServer } from './fuse-server.ts'
import { serveDevice } from './serve-device.ts'
import { ServerLock } from './server-lock.ts'
import { SYNC_REQUEST, shipOutcomes, type VaultWorkerData } from './vault-worker-data.ts'

/** Cache time of names and attributes; notices invalidate them earlier. */
const CACHE_SECONDS = 24 * 60 * 60

// Errors are frequent replies here, and their stacks are never read.
Error.stackTraceLimit = 0

if (!isMainThread && parentPort !== null) {
  serve(workerData, parentPort).catch((error: unknown) => {
    throw firstError(error)
  })
}

/** Serves a vault to the kernel in a dedicated thread. */
async function serve(work: VaultWorkerData, parent: MessagePort): Promise<void> {
  const { fd, vault, caller, trace } = work
  await using home = await openHome(work.home)
  const provenance = { ...(caller !== undefined && { caller }), trace }
  const defaultOwner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  const { shipped } = work
  const files = await home.posix(vault, {
    by: provenance,
    usesGroupCommit: true,
    defaultOwner,
    ...(shipped !== undefined && { onSync: () => waitForShipment(parent, shipped) }),
  })
  // Removes files that a killed server left open, if no other process serves the vault.
  using _claim = ServerLock.acquire(work.home.path, vault, () => files.reapUnlinked())
  parent.postMessage('ready')
  // The device can be read once it is mounted.
  await once(parent, 'message')
  const server = new FuseServer(files, {
    validity: { seconds: CACHE_SECONDS },
    wakeName: work.wakeName,
    withoutXattrs: work.withoutXattrs,
    // Not dropped by this thread, because the kernel may wait for its reply first.
    onStale: (ino) => parent.postMessage(ino),
  })
  serveDevice(fd, server, work)
}

/** Waits until the main thread has made everything durable elsewhere. Throws EIO if it could not. */
function waitForShipment(parent: MessagePort, shipped: Int32Array): void {
  Atomics.store(shipped, 0, shipOutcomes.waiting)
  parent.postMessage(SYNC_REQUEST)
  Atomics.wait(shipped, 0, shipOutcomes.waiting)
  if (Atomics.load(shipped, 0) === shipOutcomes.done) return
  throw new VfsError('EIO', '/', { op: 'fsync', detail: 'the changes were not shipped to the shared home' })
}
