import { readFileSync, readlinkSync } from 'node:fs'
import { basename } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { listDirectoryIfPresent } from '../../machine/index.ts'
import { isWithin } from '../../vfs/index.ts'
import { resolveBaseDirectory } from './base-directory.ts'
import type { SessionChange, SessionFiles } from './command-session.ts'
import { findUnlockedTree, readCopyRecord } from './copy/copy-record.ts'
import { readDirChanges } from './copy/dir-changes.ts'
import { LockedEntries } from './entries/locked-entries.ts'
import { readLeftOverlay } from './overlay/mounted-overlay.ts'

const POLL_MS = 20
/** The kernel ends all processes of a command when that of Coppice is killed, which takes it a moment. */
const MAX_WAIT_MS = 2000

/** Files of a session whose process was killed. */
export interface LeftSession {
  /** The directory with its files. */
  readonly path: string
  /** The directory that it covers or copies. */
  readonly directory: string
  readonly files: Exclude<SessionFiles, { kind: 'fuse' }>
}

/** Passes on the differences from the directory, as `CommandSession.changes`. Their files are readable until `work` ends. */
export async function readLeftSession<Result>(
  { path, directory, files }: LeftSession,
  work: (changes: readonly SessionChange[]) => Promise<Result>,
): Promise<Result> {
  if (files.kind === 'overlay') return readLeftOverlay({ path, directory, privilege: files.privilege }, work)
  const copy = readCopyRecord(path, await resolveBaseDirectory(directory))
  const locked = LockedEntries.recover(findUnlockedTree(path))
  try {
    return await work(await readDirChanges(copy, locked))
  } finally {
    locked.relockAll()
  }
}

/** Waits until no process uses the files of a session any more. False if some still do after a while. */
export async function waitForSessionEnd({
  path,
  files,
}: Pick<LeftSession, 'path'> & { files: SessionFiles }): Promise<boolean> {
  const started = performance.now()
  while (isUsed(path, files)) {
    if (performance.now() - started > MAX_WAIT_MS) return false
    await setTimeout(POLL_MS)
  }
  return true
}

/** Reports whether a process of this user has a mount of the session in its namespace, or works in its directory. */
function isUsed(path: string, files: SessionFiles): boolean {
  // The kernel shows a mount at the present name of its directory.
  const mount = files.kind === 'overlay' ? ` ${files.source} ` : `/${basename(path)}/`
  const processes = listDirectoryIfPresent('/proc').filter((name) => /^\d+$/.test(name))
  return processes.some((process) => {
    try {
      if (readFileSync(`/proc/${process}/mountinfo`, 'utf8').includes(mount)) return true
      return isWithin(readlinkSync(`/proc/${process}/cwd`), path)
    } catch {
      // It has ended, or belongs to another user.
      return false
    }
  })
}
