import type { TaggedDirectory } from '../../machine/index.ts'
import { SecretFiles } from '../../secrets/index.ts'
import { VfsError } from '../../vfs/index.ts'
import { LinkedDirectory, type LinkHome } from '../link/index.ts'
import { readLeftSession } from '../session/index.ts'
import { countChangedFiles } from './changed-files.ts'
import { ForkCopies } from './fork-copies.ts'
import { LinkedWorkspace } from './linked-workspace.ts'
import { createMaskSettings } from './mask-settings.ts'
import type { RecoveredFork } from './recover-left-forks.ts'
import { filterTouched, SessionMask } from './session-mask.ts'
import type { ForkSessionRecord } from './session-record.ts'
import { storeMountChanges } from './store-mount-changes.ts'

/**
 * Stores the changes of a killed command in its fork of a directory.
 * @param path directory of the home.
 */
export async function recoverForkSession(
  home: LinkHome,
  path: string,
  tagged: TaggedDirectory,
  record: ForkSessionRecord,
): Promise<RecoveredFork> {
  const { since, by, isGenerated, keepsEmpty, directory, files } = record
  if (files.kind === 'fuse') {
    const detail = 'a fork of a directory has no session that is served through FUSE'
    throw new VfsError('EINVAL', directory, { op: 'session', detail })
  }
  const link = new LinkedDirectory(home, directory)
  const fork = (await link.listForks()).find(({ name }) => name === record.fork)
  const isNew = record.point === undefined
  const isTaken = isNew && (await home.vaults()).includes(record.fork)
  const workspace = new LinkedWorkspace(link, {
    fork: isNew ? undefined : fork,
    name: isTaken && isGenerated ? undefined : record.fork,
    isGenerated,
    keepsEmpty,
  })
  const baseline = await workspace.resume(record)
  const mask =
    record.mask &&
    (await SessionMask.create(
      createMaskSettings(path, { files: new SecretFiles(record.mask.patterns) }),
      record.mask.scope,
      baseline.session,
    ))
  const copies = new ForkCopies(path, () => home.vaults())
  const { changed, leftOut, checkpoint } = await readLeftSession(
    { path: tagged.path, directory, files },
    (changes) =>
      storeMountChanges(workspace, {
        changes: filterTouched(changes, record.mask?.staged ?? []),
        since,
        by,
        mask: mask && ((...file) => mask.maskContent(...file)),
        onStored: (stored) => {
          if (record.copies !== undefined && stored !== undefined) copies.adopt(record.copies, stored)
          tagged.removeRecord()
        },
      }),
  )
  // After a failure, the next attempt needs the start of the session again.
  await baseline[Symbol.asyncDispose]()
  const kept = workspace.fork?.name
  if (kept !== undefined) await copies.tidy(kept)
  return { fork: kept ?? record.fork, changes: countChangedFiles(changed), leftOut, checkpoint }
}
