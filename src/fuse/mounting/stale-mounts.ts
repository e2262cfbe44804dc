import { listOwnMounts } from './mount-list.ts'
import { runSystemProgram } from './system-program.ts'
import { forceUnmount } from './unmount.ts'

/** A server that takes longer is alive. */
const TIMEOUT_MS = 1000

/** Takes away mounts whose server has died, as far as this user may; returns where they were. */
export async function sweepStaleMounts(): Promise<string[]> {
  const places = listOwnMounts().map(({ directory }) => directory)
  const dead = await Promise.all(places.map((place) => isDisconnected(place)))
  const stale = places.filter((_, index) => dead[index])
  for (const directory of stale) forceUnmount(directory)
  const left = new Set(listOwnMounts().map(({ directory }) => directory))
  return stale.filter((directory) => !left.has(directory))
}

/**
 * Whether nobody answers behind a mount any more: the kernel then says so without asking. Another program looks:
 * whoever looks waits for as long as a server is busy, and cannot even be killed.
 */
async function isDisconnected(directory: string): Promise<boolean> {
  // About the file system: what it knows of the directory, the kernel goes on telling after the server's death.
  const complaint = await runSystemProgram('stat', ['-f', '--', directory], {
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  return complaint?.includes('Transport endpoint is not connected') === true
}
