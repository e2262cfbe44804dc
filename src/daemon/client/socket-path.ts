import { createHash } from 'node:crypto'
import { chmodSync, lstatSync, mkdirSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { VfsError } from '../../vfs/index.ts'

/** Directories for sockets. */
export interface SocketDirectories {
  /** The system's runtime directory of this user, if there is one. */
  readonly runtime?: string | undefined
  /** A directory with a short name. */
  readonly temporary: string
}

/** Shortest limit of any system for the path of a socket. */
const MAX_PATH_BYTES = 103
const OTHERS_MODE = 0o077
const OWNER_ONLY = 0o700

/**
 * Returns the path of the socket of a home's daemon, in a directory private to this user. EACCES if it belongs to
 * another.
 */
export function getSocketPath(home: string, { runtime, temporary }: SocketDirectories): string {
  const name = `${createHash('sha256').update(realpathSync(home)).digest('hex').slice(0, 16)}.sock`
  const usual = runtime ? join(runtime, 'coppice', name) : join(home, 'run', 'daemon.sock')
  const fits = Buffer.byteLength(usual) <= MAX_PATH_BYTES
  const path = fits ? usual : join(temporary, `coppice-${process.getuid?.() ?? 0}`, name)
  ensurePrivateDirectory(dirname(path))
  return path
}

/** Returns the path of the file that is there while a daemon serves the page of a home. */
export function getUiMarkerPath(home: string): string {
  return join(home, 'run', 'ui')
}

/** Refuses a directory where another user could replace the socket. */
function ensurePrivateDirectory(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: OWNER_ONLY })
  const { uid, mode } = lstatSync(directory)
  const isDirectory = lstatSync(directory).isDirectory()
  if (!isDirectory || (process.getuid !== undefined && uid !== process.getuid())) {
    const detail = `${directory} belongs to another user; remove it, or set XDG_RUNTIME_DIR to a directory of your own`
    throw new VfsError('EACCES', directory, { op: 'socket', detail })
  }
  if ((mode & OTHERS_MODE) !== 0) chmodSync(directory, OWNER_ONLY)
}
