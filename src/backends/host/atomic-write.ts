import {
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsync,
  linkSync,
  lstatSync,
  renameSync,
  type Stats,
  unlinkSync,
  write,
} from 'node:fs'
import { promisify } from 'node:util'
import { createTemporaryName, type FileDescriptor, isErrno } from '../../machine/index.ts'
import { type Content, contentChunks } from '../../vfs/index.ts'
import type { ConfinedPath } from './confinement.ts'
import { assertFile } from './file-stream.ts'
import { attempt, attemptAsync, type HostCall, HostFsFault } from './host-errors.ts'

const { O_CREAT, O_EXCL, O_WRONLY } = constants
const NEW_FILE_MODE = 0o666
const PRIVATE_MODE = 0o600
const PERMISSIONS = 0o7777
const PLAIN_PERMISSIONS = 0o777
const writeAsync = promisify(write)
const fsyncAsync = promisify(fsync)

export interface FileReplacement {
  /** The caller must not change bytes in it until this is done. */
  readonly content: Content
  /** Permission bits; those of the replaced file when absent. */
  readonly mode: number | undefined
  /** Refuse to replace any other file than this, or any at all (`null`), with ECONFLICT. */
  readonly expected: Stats | null | undefined
  readonly signal: AbortSignal | undefined
  /** Runs the last step, which gives the file its name, when nothing else changes the file. */
  readonly runExclusive: (step: () => void) => void | Promise<void>
}

/**
 * Replaces the file at a place: written beside it, synced, renamed over it. Whatever fails, the old file stays and
 * the new one is removed; a crash leaves at most a temporary file that nobody sees.
 */
export async function replaceFile(
  place: ConfinedPath,
  asked: HostCall,
  replacement: FileReplacement,
): Promise<void> {
  const { directory, entry } = place
  const temporary = createTemporaryName()
  const descriptor = attempt(asked, () => {
    if (entry) assertFile(entry)
    // What gets its permissions later is private until then.
    const mode = entry || replacement.mode !== undefined ? PRIVATE_MODE : NEW_FILE_MODE
    return directory.open(temporary, O_WRONLY | O_CREAT | O_EXCL, mode)
  })
  try {
    await writeContent(descriptor, asked, replacement)
    attempt(asked, () => setOwnerAndMode(descriptor.fd, entry, replacement.mode))
    await attemptAsync(asked, () => fsyncAsync(descriptor.fd))
    replacement.signal?.throwIfAborted()
    const finish = () => renameIntoPlace(place, temporary, replacement.expected)
    await attemptAsync(asked, async () => replacement.runExclusive(finish), replacement.signal)
  } catch (error) {
    removeTemporary(place, temporary)
    throw error
  } finally {
    descriptor.close()
  }
}

/** Writes from a position on, as much as the system takes at once; gives how much that was. */
export async function writeSome(descriptor: FileDescriptor, bytes: Uint8Array, at: number): Promise<number> {
  const { bytesWritten } = await writeAsync(descriptor.fd, bytes, at)
  return bytesWritten
}

/** The source's own failures pass as they are: they are not the file system's. */
async function writeContent(
  descriptor: FileDescriptor,
  asked: HostCall,
  { content, signal }: FileReplacement,
): Promise<void> {
  for await (const chunk of contentChunks(content)) {
    signal?.throwIfAborted()
    for (let at = 0; at < chunk.length; ) {
      at += await attemptAsync(asked, () => writeSome(descriptor, chunk, at))
    }
  }
}

function setOwnerAndMode(fd: number, old: Stats | undefined, mode: number | undefined): void {
  const made = fstatSync(fd)
  const isKept = old === undefined || restoreOwner(fd, made, old)
  // Bits that lend the owner's rights must not lend those of another owner.
  const wanted = mode ?? (isKept ? old?.mode : old.mode & PLAIN_PERMISSIONS) ?? made.mode
  if (((wanted ^ made.mode) & PERMISSIONS) !== 0) fchmodSync(fd, wanted & PERMISSIONS)
}

/** As far as the system lets us: only root can give files away. */
function restoreOwner(fd: number, made: Stats, { uid, gid }: Stats): boolean {
  if (made.uid === uid && made.gid === gid) return true
  try {
    fchownSync(fd, uid, gid)
    return true
  } catch {
    return false
  }
}

function renameIntoPlace(
  { directory, name }: ConfinedPath,
  temporary: string,
  expected: Stats | null | undefined,
): void {
  const [from, to] = [directory.at(temporary), directory.at(name)]
  if (expected && !isUnchanged(expected, lstatSync(to, { throwIfNoEntry: false })))
    throw createConflictFault()
  if (expected === null) linkIntoPlace(from, to)
  else renameSync(from, to)
}

/** A hard link does what a rename cannot: it fails if the name is taken, whoever took it. */
function linkIntoPlace(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch (error) {
    if (isErrno(error, 'EEXIST')) throw createConflictFault()
    if (!isErrno(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS')) throw error
    // No hard links on this disk: then as well as can be.
    if (lstatSync(to, { throwIfNoEntry: false })) throw createConflictFault()
    renameSync(from, to)
    return
  }
  unlinkSync(from)
}

function isUnchanged(before: Stats, now: Stats | undefined): boolean {
  return (
    now?.ino === before.ino &&
    now.dev === before.dev &&
    now.size === before.size &&
    now.mtimeMs === before.mtimeMs &&
    now.ctimeMs === before.ctimeMs
  )
}

function createConflictFault(): HostFsFault {
  return new HostFsFault('ECONFLICT', 'the file was changed while the write was under way')
}

function removeTemporary({ directory }: ConfinedPath, temporary: string): void {
  try {
    unlinkSync(directory.at(temporary))
  } catch {
    // It is gone or cannot be removed now. It is hidden either way, and the first failure is the one to report.
  }
}
