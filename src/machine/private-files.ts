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
const OWNER_BITS = 0o700
const SUPERUSER = 0

/**
 * Creates a directory that only its owner may enter, with its missing parents. An existing one stays as it is. If root
 * creates it, it belongs to the owner of its parent, so that a user's files stay the user's.
 */
export function makePrivateDirectory(path: string): void {
  for (const directory of makeDirectories(path, PRIVATE_DIRECTORY_MODE)) {
    const fd = openSync(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    try {
      applyOwnerAndMode(fd, dirname(directory), PRIVATE_DIRECTORY_MODE)
    } finally {
      closeSync(fd)
    }
  }
}

/**
 * Creates a directory with its missing parents, and returns those that it created, parents first. Node's recursive form
 * loops for ever where nothing can be created, as below `/proc`.
 */
export function makeDirectories(path: string, mode?: number): string[] {
  const directory = resolve(path)
  if (isDirectory(directory)) return []
  const parent = dirname(directory)
  const created =
    statSync(parent, { throwIfNoEntry: false }) === undefined ? makeDirectories(parent, mode) : []
  try {
    mkdirSync(directory, mode)
  } catch (error) {
    // Another process may have created it meanwhile.
    if (isDirectory(directory)) return created
    throw error
  }
  return [...created, directory]
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
  changeAttributes(path, (target, found) => {
    if (found.uid === owner) chmodSync(target, found.mode & OWNER_BITS)
  })
}

/**
 * Gives the files that a library created in a private directory the owner of that directory, and removes the
 * permissions of group and others. Skips directories, files of other users and those with several names.
 */
export function makeFilesPrivate(directory: string): void {
  const owner = statSync(directory)
  for (const name of readdirSync(directory)) {
    changeAttributes(join(directory, name), (target, found) => {
      if (!found.isFile() || found.uid !== process.geteuid?.() || found.nlink > 1) return
      if (found.uid !== owner.uid) chownSync(target, owner.uid, owner.gid)
      if (isOpenToOthers(found)) chmodSync(target, PRIVATE_FILE_MODE)
    })
  }
}

/**
 * Calls `work` with a path and the attributes of a file or directory, never of a link, and ignores its failure. Opens
 * it with O_PATH: closing any other descriptor would release the locks of this process on the file, such as SQLite's.
 */
function changeAttributes(path: string, work: (target: string, found: Stats) => void): void {
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
  return (mode & PERMISSION_BITS & ~OWNER_BITS) !== 0
}

/** Gives a file that root created the owner of its directory, and any file the mode that the umask may have cut. */
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
