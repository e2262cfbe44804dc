import { isStaleTag } from '../../machine/index.ts'
import type { LinkHome } from './link-home.ts'
import { readRecord } from './link-record.ts'
import { ROOT_INODE } from './tree.ts'

/** A mirror gets its record right after its creation. One without a record for this long never gets one. */
const UNRECORDED_TTL_SECONDS = 3600

/**
 * Deletes a mirror and its incomplete fork if the process that created them has died. Returns true if the fork is or was
 * incomplete, also while it is still being created.
 */
export async function sweepUnfinishedFork(home: LinkHome, mirror: string): Promise<boolean> {
  const files = await home.posix(mirror)
  const record = readRecord(files)
  if (record !== undefined && record.maker === undefined) return false
  const isAbandoned =
    record?.maker === undefined
      ? Date.now() / 1000 - files.getattr(ROOT_INODE).mtime.seconds > UNRECORDED_TTL_SECONDS
      : isStaleTag(record.maker)
  if (isAbandoned) await deleteMirror(home, mirror)
  return true
}

async function deleteMirror(home: LinkHome, mirror: string): Promise<void> {
  for (const name of await home.vaults()) {
    const { from } = await home.info(name)
    if (from?.vault === mirror) await home.deleteVault(name)
  }
  await home.deleteVault(mirror)
}
