import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { listDirectoryIfPresent, type TaggedDirectory } from '../../machine/index.ts'
import { SecretFiles } from '../../secrets/index.ts'
import { LinkedDirectory, type LinkHome } from '../link/index.ts'
import { hasCarriedList, readLeftOverlay, recoverCarriedFiles } from '../session/index.ts'
import { countChangedFiles } from './changed-files.ts'
import { ForkCopies } from './fork-copies.ts'
import { LinkedWorkspace } from './linked-workspace.ts'
import { createMaskSettings } from './mask-settings.ts'
import { isThere, type RecoveredFork, recoverLeftForks } from './recover-left-forks.ts'
import { filterTouched, SessionMask } from './session-mask.ts'
import type { SessionRecord } from './session-record.ts'
import { storeMountChanges } from './store-mount-changes.ts'

const POLL_MS = 20
/** The kernel ends all processes of a command when that of Coppice is killed, which takes it a moment. */
const MAX_WAIT_MS = 2000

/**
 * Stores the changes of commands in forks of directories whose process was killed.
 * @param path directory of the home.
 */
export function recoverSessions(home: LinkHome, path: string): Promise<RecoveredFork[]> {
  return recoverLeftForks<SessionRecord>(join(path, 'sessions'), async (files, record) => {
    const hasDirectory = isThere(record)
    if (!hasDirectory && !hasCarriedList(files.path)) return 'later'
    if (!(await waitForEnd(record.source))) return 'later'
    // Also without the directory: an agent may have a new login.
    recoverCarriedFiles(files.path)
    return hasDirectory ? storeLeftChanges(home, path, files, record) : 'later'
  })
}

async function storeLeftChanges(
  home: LinkHome,
  path: string,
  files: TaggedDirectory,
  record: SessionRecord,
): Promise<RecoveredFork> {
  const { since, by, isGenerated, keepsEmpty } = record
  const link = new LinkedDirectory(home, record.directory)
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
      link.path,
      baseline.session,
    ))
  const copies = new ForkCopies(path, () => home.vaults())
  const { changed, leftOut } = await readLeftOverlay({ ...record, path: files.path }, (changes) =>
    storeMountChanges(workspace, {
      changes: filterTouched(changes, record.mask?.staged ?? []),
      since,
      by,
      mask: mask && ((...file) => mask.maskContent(...file)),
      onStored: (stored) => {
        if (record.copies !== undefined && stored !== undefined) copies.adopt(record.copies, stored)
        files.removeRecord()
      },
    }),
  )
  // After a failure, the next attempt needs the start of the session again.
  await baseline[Symbol.asyncDispose]()
  const kept = workspace.fork?.name
  if (kept !== undefined) await copies.tidy(kept)
  return { fork: kept ?? record.fork, changes: countChangedFiles(changed), leftOut }
}

/** Waits until no process has an overlay mounted any more. False if some still have it after a while. */
async function waitForEnd(source: string): Promise<boolean> {
  const started = performance.now()
  while (isMountedAnywhere(source)) {
    if (performance.now() - started > MAX_WAIT_MS) return false
    await setTimeout(POLL_MS)
  }
  return true
}

/** Reports whether a process of this user has a mount with this source in its namespace. */
function isMountedAnywhere(source: string): boolean {
  const processes = listDirectoryIfPresent('/proc').filter((name) => /^\d+$/.test(name))
  return processes.some((process) => {
    try {
      return readFileSync(`/proc/${process}/mountinfo`, 'utf8').includes(` ${source} `)
    } catch {
      // It has ended, or belongs to another user.
      return false
    }
  })
}
