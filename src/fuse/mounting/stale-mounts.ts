import { listFuseMounts } from './mount-list.ts'
import { runSystemProgram } from './system-program.ts'
import { forceUnmount } from './unmount.ts'

/** Time in which a mount without a server answers with an error. A server that takes longer is alive. */
const TIMEOUT_MS = 1000
/** Messages of `stat` on such a mount. The second answers a request that was waiting when the connection ended. */
const DISCONNECTED = /Transport endpoint is not connected|Software caused connection abort/

/** Unmounts mounts whose server has died, as far as this user may; returns their directories. */
export async function sweepStaleMounts(): Promise<string[]> {
  const mountPoints = listFuseMounts().map(({ directory }) => directory)
  const dead = await Promise.all(mountPoints.map((path) => isDisconnected(path)))
  const stale = mountPoints.filter((_, index) => dead[index])
  for (const directory of stale) forceUnmount(directory)
  const remaining = new Set(listFuseMounts().map(({ directory }) => directory))
  return stale.filter((directory) => !remaining.has(directory))
}

/**
 * Reports whether a mount has lost its server; the kernel then answers with an error.
 * Another program checks, because the check blocks unkillably while a server is busy.
 */
async function isDisconnected(directory: string): Promise<boolean> {
  // Queries the file system: the kernel still returns cached directory attributes after the server's death.
  const complaint = await runSystemProgram('stat', ['-f', '--', directory], {
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  return complaint !== undefined && DISCONNECTED.test(complaint)
}
