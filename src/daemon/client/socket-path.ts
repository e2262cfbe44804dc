import { createHash } from 'node:crypto'
import { chmodSync, lstatSync, realpathSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { makePrivateDirectory, PRIVATE_DIRECTORY_MODE } from '../../machine/index.ts'
import { VfsError } from '../../vfs/index.ts'

/** Directories for sockets. */
export interface SocketDirectories {
  /**
   * The system's runtime directory of this user, if there is one. A relative path is ignored, as XDG specifies, and so is
   * the directory of another user, which `su` leaves in the environment.
   */
  readonly runtime?: string | undefined
  /** A directory with a short name. */
  readonly temporary: string
}

/** Shortest limit of any system for the path of a socket. */
const MAX_PATH_BYTES = 103
const OTHERS_MODE = 0o077

/**
 * Returns the path of the socket of a home's daemon, in a directory private to this user. EACCES if the directory is a
 * link or belongs to another user.
 */
export function getSocketPath(home: string, { runtime = '', temporary }: SocketDirectories): string {
  // One socket for every path of a home.
  const realHome = realpathSync(home)
  const name = `${createHash('sha256').update(realHome).digest('hex').slice(0, 16)}.sock`
  const usual =
    isAbsolute(runtime) && !belongsToAnother(runtime)
      ? join(runtime, 'coppice', name)
      : join(realHome, 'run', 'daemon.sock')
  const fits = Buffer.byteLength(usual) <= MAX_PATH_BYTES
  const path = fits ? usual : join(temporary, `coppice-${process.getuid?.() ?? 0}`, name)
  ensurePrivateDirectory(dirname(path))
  return path
}

/** Returns the path of the file that is there while a daemon serves the page of a home. */
export function getUiMarkerPath(home: string): string {
  return join(home, 'run', 'ui')
}

function belongsToAnother(directory: string): boolean {
  const owner = statSync(directory, { throwIfNoEntry: false })?.uid
  return owner !== undefined && process.getuid !== undefined && owner !== process.getuid()
}

/** Creates a directory where only this user can replace the socket. EACCES for a link, or for another user's. */
function ensurePrivateDirectory(directory: string): void {
  if (lstatSync(directory, { throwIfNoEntry: false }) === undefined) makePrivateDirectory(directory)
  const found = lstatSync(directory)
  const isDirectory = found.isDirectory()
  if (!isDirectory || (process.getuid !== undefined && found.uid !== process.getuid())) {
    const problem = isDirectory ? 'belongs to another user' : 'is a link or a file'
    const detail = `${directory} ${problem}; remove it, or set XDG_RUNTIME_DIR to a directory of your own`
    throw new VfsError('EACCES', directory, { op: 'socket', detail })
  }
  if ((found.mode & OTHERS_MODE) !== 0) chmodSync(directory, PRIVATE_DIRECTORY_MODE)
}
