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
  writeSync,
} from 'node:fs'
import { promisify } from 'node:util'
import { createTemporaryName, type FileDescriptor, isErrno } from '../../machine/index.ts'
import { type Content, contentChunks } from '../../vfs/index.ts'
import { assertFile } from './file-stream.ts'
import { attempt, attemptAsync, type HostCall, HostFsFault } from './host-errors.ts'
import type { ConfinedPath } from './path-resolution.ts'

const { O_CREAT, O_EXCL, O_WRONLY } = constants
const NEW_FILE_MODE = 0o666
const PRIVATE_MODE = 0o600
const PERMISSIONS = 0o7777
const PLAIN_PERMISSIONS = 0o777
/** Longest chunk that is written synchronously, if it need not be synced. */
const MAX_QUICK_BYTES = 64 * 1024
const writeAsync = promisify(write)
const fsyncAsync = promisify(fsync)

export interface FileReplacement {
  /** The caller must not change the bytes until the write is done. */
  readonly content: Content
  /** Permission bits; those of the replaced file when absent. */
  readonly mode: number | undefined
  /** Throw ECONFLICT unless the replaced file is this one, or there is none (`null`). */
  readonly expected: Stats | null | undefined
  readonly signal: AbortSignal | undefined
  /** Sync the file before the rename, so that it survives a power cut. */
  readonly isSynced: boolean
  /** Runs the final rename while no other change of the file runs. */
  readonly runExclusive: (step: () => void) => void | Promise<void>
}

/**
 * Replaces a file: writes a temporary file, syncs it if requested and renames it. After a failure the old file stays and
 * the temporary one is removed; a crash leaves at most a hidden temporary file.
 */
export async function replaceFile(
  target: ConfinedPath,
  call: HostCall,
  replacement: FileReplacement,
): Promise<void> {
  const { directory, entry } = target
  const temporary = createTemporaryName()
  const descriptor = attempt(call, () => {
    if (entry) assertFile(entry)
    // The file is private until it gets its final permissions.
    const mode = entry || replacement.mode !== undefined ? PRIVATE_MODE : NEW_FILE_MODE
    return directory.open(temporary, O_WRONLY | O_CREAT | O_EXCL, mode)
  })
  try {
    await writeContent(descriptor, call, replacement)
    attempt(call, () => setOwnerAndMode(descriptor.fd, entry, replacement.mode))
    if (replacement.isSynced) await attemptAsync(call, () => fsyncAsync(descriptor.fd))
    replacement.signal?.throwIfAborted()
    const finish = () => renameIntoPlace(target, temporary, replacement.expected)
    await attemptAsync(call, async () => replacement.runExclusive(finish), replacement.signal)
  } catch (error) {
    removeTemporary(target, temporary)
    throw error
  } finally {
    descriptor.close()
  }
}

/** Writes from an offset of the buffer; returns the number of bytes written. */
export async function writeSome(
  descriptor: FileDescriptor,
  bytes: Uint8Array,
  offset: number,
): Promise<number> {
  const { bytesWritten } = await writeAsync(descriptor.fd, bytes, offset)
  return bytesWritten
}

/** Writes the content. Errors of its source are thrown unchanged: they are not errors of the file system. */
async function writeContent(
  descriptor: FileDescriptor,
  call: HostCall,
  { content, signal, isSynced }: FileReplacement,
): Promise<void> {
  for await (const chunk of contentChunks(content)) {
    signal?.throwIfAborted()
    // A small write to the page cache takes less time than its way to another thread and back.
    const isQuick = !isSynced && chunk.length <= MAX_QUICK_BYTES
    for (let offset = 0; offset < chunk.length; ) {
      const start = offset
      offset += isQuick
        ? attempt(call, () => writeSync(descriptor.fd, chunk, start))
        : await attemptAsync(call, () => writeSome(descriptor, chunk, start))
    }
  }
}

/** Sets the owner of the replaced file, and the requested mode or that of the replaced file. */
function setOwnerAndMode(fd: number, old: Stats | undefined, mode: number | undefined): void {
  const created = fstatSync(fd)
  const keepsOwner = old === undefined || restoreOwner(fd, created, old)
  // Setuid and setgid must not be given to another owner.
  const newMode = mode ?? (keepsOwner ? old?.mode : old.mode & PLAIN_PERMISSIONS) ?? created.mode
  if (((newMode ^ created.mode) & PERMISSIONS) !== 0) fchmodSync(fd, newMode & PERMISSIONS)
}

/** Gives a file the owner of the replaced one. Returns false if that is impossible: only root can change an owner. */
function restoreOwner(fd: number, created: Stats, { uid, gid }: Stats): boolean {
  if (created.uid === uid && created.gid === gid) return true
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

/** Gives the file its name. Uses a hard link because, unlike a rename, it fails if the name is taken. */
function linkIntoPlace(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch (error) {
    if (isErrno(error, 'EEXIST')) throw createConflictFault()
    if (!isErrno(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS')) throw error
    // Without hard links, check and rename; another process may still create the name in between.
    if (lstatSync(to, { throwIfNoEntry: false })) throw createConflictFault()
    renameSync(from, to)
    return
  }
  unlinkSync(from)
}

function isUnchanged(before: Stats, current: Stats | undefined): boolean {
  return (
    current?.ino === before.ino &&
    current.dev === before.dev &&
    current.size === before.size &&
    current.mtimeMs === before.mtimeMs &&
    current.ctimeMs === before.ctimeMs
  )
}

function createConflictFault(): HostFsFault {
  return new HostFsFault('ECONFLICT', 'the file was changed during the write; read it and write again')
}

function removeTemporary({ directory }: ConfinedPath, temporary: string): void {
  try {
    unlinkSync(directory.at(temporary))
  } catch {
    // It is hidden either way, and the first error is the one to report.
  }
}
