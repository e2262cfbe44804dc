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
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isErrno } from './is-errno.ts'

/** Modes of directories and files that are private to their owner. */
export const PRIVATE_DIRECTORY_MODE = 0o700
export const PRIVATE_FILE_MODE = 0o600

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW = 0, O_RDONLY, O_RDWR } = constants
/** Of Linux; Node does not name it. */
const O_PATH = 0o10000000
const PERMISSION_BITS = 0o777
const SUPERUSER = 0

/**
 * Makes a directory that only its owner may enter, with all missing above it. One that is there stays as it is.
 * What the superuser makes belongs to the owner of the directory above it: a user's files stay the user's.
 */
export function makePrivateDirectory(path: string): void {
  const at = resolve(path)
  if (isDirectory(at)) return
  // Node's recursive form never ends where nothing can be made, as below `/proc`.
  if (statSync(dirname(at), { throwIfNoEntry: false }) === undefined) makePrivateDirectory(dirname(at))
  try {
    mkdirSync(at, PRIVATE_DIRECTORY_MODE)
  } catch (error) {
    // Another process may have made it meanwhile.
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

/** Makes an empty file that only its owner may read, if there is none. False if there was one. */
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
 * Takes the permissions of everybody else from a file or directory of this owner.
 * A link is not followed, and what belongs to another user is left alone, so the superuser can be led nowhere.
 */
export function makePrivate(path: string, owner: number): void {
  changeAttributes(path, (at, found) => {
    if (found.uid === owner) chmodSync(at, found.mode & PRIVATE_DIRECTORY_MODE)
  })
}

/**
 * Makes the files that a library has put into a private directory as `makePrivateFile` would have made them: their
 * owner's alone, and of the owner of the directory.
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
 * Changes the permissions or the owner of a file or directory where there is one, and the file system has such things.
 * Held by a descriptor that is only a path: with any other, closing it would give up the locks that this process has on
 * the file, as SQLite and LevelDB do.
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
    // Gone meanwhile, another user's, or on a file system without permissions.
  }
}

/** Reports whether others than the owner have any permission. */
export function isOpenToOthers({ mode }: Pick<Stats, 'mode'>): boolean {
  return (mode & PERMISSION_BITS & ~PRIVATE_DIRECTORY_MODE) !== 0
}

/** Gives a new file to the owner of its directory, and the permissions that the umask may have taken. */
function applyOwnerAndMode(fd: number, directory: string, mode: number): void {
  try {
    if (process.getuid?.() === SUPERUSER) {
      const { uid, gid } = statSync(directory)
      // The directory of everybody, such as /tmp, is the superuser's.
      if (uid !== SUPERUSER) fchownSync(fd, uid, gid)
    }
    if ((fstatSync(fd).mode & PERMISSION_BITS) !== mode) fchmodSync(fd, mode)
  } catch {
    // A file system without owners or permissions, or a superuser who may not give away.
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
