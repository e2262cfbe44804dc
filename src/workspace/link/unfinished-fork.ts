import { isStaleTag } from '../../machine/index.ts'
import type { LinkHome } from './link-home.ts'
import { readRecord } from './link-record.ts'
import { ROOT_INODE } from './tree.ts'

/** A mirror gets its record right after it is made: one that has none for so long never will. */
const UNRECORDED_TTL_SECONDS = 3600

/**
 * Whether a mirror belongs to a fork that is not yet made. If whoever was to make it is gone, the mirror goes too, with
 * what there is of the fork.
 */
export async function isUnfinishedFork(home: LinkHome, mirror: string): Promise<boolean> {
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
