import { ourMounts } from './mount-list.ts'
import { complaintOf } from './program.ts'
import { abandon } from './unmount.ts'

/** A server that takes longer is alive. */
const PATIENCE_MS = 1000

/** Takes away mounts whose server has died, as far as this user may; returns where they were. */
export async function sweepStale(): Promise<string[]> {
  const places = ourMounts().map(({ directory }) => directory)
  const dead = await Promise.all(places.map((place) => isDisconnected(place)))
  const stale = places.filter((_, index) => dead[index])
  for (const directory of stale) abandon(directory)
  const left = new Set(ourMounts().map(({ directory }) => directory))
  return stale.filter((directory) => !left.has(directory))
}

/**
 * Whether nobody answers behind a mount any more: the kernel then says so without asking. Another program looks:
 * whoever looks waits for as long as a server is busy, and cannot even be killed.
 */
async function isDisconnected(directory: string): Promise<boolean> {
  // About the file system: what it knows of the directory, the kernel goes on telling after the server's death.
  const complaint = await complaintOf('stat', ['-f', '--', directory], {
    signal: AbortSignal.timeout(PATIENCE_MS),
  })
  return complaint?.includes('Transport endpoint is not connected') === true
}
