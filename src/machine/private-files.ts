import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isErrno } from './is-errno.ts'

/** Modes of directories and files that are private to their owner. */
export const PRIVATE_DIRECTORY_MODE = 0o700
export const PRIVATE_FILE_MODE = 0o600

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW = 0, O_RDONLY, O_RDWR } = constants
/** Flag of Linux that Node does not export. */
const O_PATH = 0o10000000
const PERMISSION_BITS = 0o777
const SUPERUSER = 0

/**
 * Creates a directory that only its owner may enter, with its missing parents. An existing one stays as it is. If root
 * creates it, it belongs to the owner of its parent, so that a user's files stay the user's.
 */
export function makePrivateDirectory(path: string): void {
  const at = resolve(path)
  if (isDirectory(at)) return
  // Node's recursive form loops for ever where nothing can be created, as below `/proc`.
  if (statSync(dirname(at), { throwIfNoEntry: false }) === undefined) makePrivateDirectory(dirname(at))
  try {
    mkdirSync(at, PRIVATE_DIRECTORY_MODE)
  } catch (error) {
    // Another process may have created it meanwhile.
    if (isDirectory(at)) return
    throw error
  }
  const fd = openSync(at, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  try {
    applyOwnerAndMode(fd, dirname(at), PRIVATE_DIRECTORY_MODE)
  } finally {
    closeSync(fd)
  }
}

/** Creates an empty file that only its owner may read; false if it exists. */
export function makePrivateFile(path: string): boolean {
  let fd: number
  try {
    fd = openSync(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, PRIVATE_FILE_MODE)
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false
    throw error
  }
  try {
    applyOwnerAndMode(fd, dirname(path), PRIVATE_FILE_MODE)
    return true
  } finally {
    closeSync(fd)
  }
}

/**
 * Appends a text to a file, which is created for its owner alone if missing. It takes half the time of
 * `appendFileSync`, which counts for files with a line for each step of a process.
 */
export function appendTextSync(path: string, text: string): void {
  const fd = openSync(path, 'a', PRIVATE_FILE_MODE)
  try {
    const bytes = Buffer.from(text)
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done)
  } finally {
    closeSync(fd)
  }
}

/**
 * Removes the permissions of group and others from a file or directory of this owner. Follows no link and skips files
 * of other owners, so that nobody can misdirect root.
 */
export function makePrivate(path: string, owner: number): void {
  changeAttributes(path, (at, found) => {
    if (found.uid === owner) chmodSync(at, found.mode & PRIVATE_DIRECTORY_MODE)
  })
}

/**
 * Gives the files that a library created in a private directory the owner of that directory, and removes the
 * permissions of group and others.
 */
export function makeFilesPrivate(directory: string): void {
  const owner = statSync(directory)
  for (const name of readdirSync(directory)) {
    changeAttributes(join(directory, name), (at, found) => {
      if (found.uid !== process.geteuid?.() || found.nlink > 1) return
      if (found.uid !== owner.uid) chownSync(at, owner.uid, owner.gid)
      if (isOpenToOthers(found)) chmodSync(at, PRIVATE_FILE_MODE)
    })
  }
}

/**
 * Changes the permissions or the owner of a file or directory, if it exists and the file system has them. Opens it with
 * O_PATH: closing any other descriptor would release the locks of this process on the file, such as those of SQLite.
 */
function changeAttributes(path: string, work: (at: string, found: Stats) => void): void {
  try {
    if (process.platform === 'linux') {
      const fd = openSync(path, O_PATH | O_NOFOLLOW)
      try {
        const found = fstatSync(fd)
        if (found.isFile() || found.isDirectory()) work(`/proc/self/fd/${fd}`, found)
      } finally {
        closeSync(fd)
      }
      return
    }
    const found = lstatSync(path)
    if (found.isFile() || found.isDirectory()) work(path, found)
  } catch {
    // Removed meanwhile, another user's, or on a file system without permissions.
  }
}

/** Reports whether others than the owner have any permission. */
export function isOpenToOthers({ mode }: Pick<Stats, 'mode'>): boolean {
  return (mode & PERMISSION_BITS & ~PRIVATE_DIRECTORY_MODE) !== 0
}

/** Gives a new file the owner of its directory, and the permissions that the umask may have removed. */
function applyOwnerAndMode(fd: number, directory: string, mode: number): void {
  try {
    if (process.getuid?.() === SUPERUSER) {
      const { uid, gid } = statSync(directory)
      // A directory for all users, such as /tmp, belongs to root.
      if (uid !== SUPERUSER) fchownSync(fd, uid, gid)
    }
    if ((fstatSync(fd).mode & PERMISSION_BITS) !== mode) fchmodSync(fd, mode)
  } catch {
    // A file system without owners or permissions, or a root that may not change them.
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
