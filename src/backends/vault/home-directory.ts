import { lstatSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  createProcessTag,
  isErrno,
  isOpenToOthers,
  makePrivate,
  makePrivateDirectory,
  makePrivateFile,
} from '../../machine/index.ts'
import { VfsError } from '../../vfs/index.ts'

/** The entries of a home. A directory with any other entry also belongs to the user. */
const HOME_ENTRY =
  /^(?:store\.(?:db(?:-.+)?|lmdb|level)|home\.json|(?:config|policy)\.toml(?:\..+)?|agents|applying|checkouts|copies|data|doctor-.+|host-support\.json|locks|profiles|run|running|scripts|secret-key(?:\..+)?|serving|session-authority\.pem(?:\..+)?|sessions|shared-homes|shown-profiles|skills|timelines|tool_cache|vfs)$/
/** Directories with only our own files. In the others, files may have their own permissions. */
const OWN_DIRECTORY = /^(?:store\.(?:lmdb|level)|applying|data|serving)$/
/** Directories that the user may have had before the home. They are private if the home created them. */
const USER_DIRECTORY = /^(?:agents|profiles|scripts|skills)$/
const STICKY = 0o1000
const OTHERS_WRITE = 0o002
const OTHERS_ENTER = 0o011
const SUPERUSER = 0

/**
 * Creates the directory of a home for its owner alone, or removes the permissions of others from an existing one.
 * Returns the paths that others had permissions on until now. Throws EACCES if it belongs to another user, or if a link in
 * it would lead the superuser elsewhere, and ENOTDIR for a file.
 */
export function openHomeDirectory(path: string): string[] {
  createHomeDirectory(path)
  const user = process.geteuid?.()
  if (user === undefined) return []
  const home = realpathSync(path)
  const found = statSync(home)
  if (user !== SUPERUSER) for (const entry of [home, ...listStores(home)]) assertOwner(home, entry, user)
  else if (found.uid !== SUPERUSER) assertNoLinks(home)
  const owner = user === SUPERUSER ? found.uid : user
  const open = listOpenPaths(home)
  for (const entry of listOwnPaths(home)) if (isOpen(entry)) makePrivate(entry, owner)
  return open.filter((entry) => !isOpen(entry))
}

function createHomeDirectory(path: string): void {
  try {
    makePrivateDirectory(path)
  } catch (cause) {
    if (!isErrno(cause, 'EEXIST', 'ENOTDIR')) throw cause
    const detail = `cannot use ${path} as a home: it is not a directory; name another`
    throw new VfsError('ENOTDIR', path, { op: 'open', detail, cause })
  }
}

/** The permissions of other users in a home. */
export interface HomePrivacy {
  /** Paths that others could read or enter until now. */
  readonly mended: readonly string[]
  /** Paths that are still open: another user owns them, or the file system has no permissions. */
  readonly open: readonly string[]
  /** World-writable parent directories, in which others could replace the home. */
  readonly exposedBy: readonly string[]
}

/** Removes the permissions of others from a home, as opening it does. Throws EACCES if it belongs to another user. */
export function restrictHomeAccess(path: string): HomePrivacy {
  const mended = openHomeDirectory(path)
  const home = realpathSync(path)
  return { mended, open: listOpenPaths(home), exposedBy: listParents(home).filter(isWorldWritable) }
}

function listParents(path: string): string[] {
  const parent = dirname(path)
  return parent === path ? [] : [parent, ...listParents(parent)]
}

function isWorldWritable(directory: string): boolean {
  const { mode } = statSync(directory)
  return (mode & OTHERS_WRITE) !== 0 && (mode & STICKY) === 0
}

/** Returns the paths in a home that other users have permissions on and can reach. */
function listOpenPaths(home: string): string[] {
  return listOwnPaths(home).filter(
    (path) => isOpen(path) && (path === home || (canOthersEnter(home) && canOthersEnter(dirname(path)))),
  )
}

/** Returns the home's own paths, without the files of vaults and of the user. */
function listOwnPaths(home: string): string[] {
  const names = readdirSync(home)
  // With other entries, or a sticky bit, the directory does not belong to the home alone.
  const isOnlyHome = names.every(isHomeEntry) && (statSync(home).mode & STICKY) === 0
  const entries = names
    .filter((name) => isHomeEntry(name) && !USER_DIRECTORY.test(name))
    .flatMap((name) => [
      join(home, name),
      ...(OWN_DIRECTORY.test(name) ? listChildren(join(home, name)) : []),
    ])
  return isOnlyHome ? [home, ...entries] : entries
}

function canOthersEnter(directory: string): boolean {
  return (statSync(directory).mode & OTHERS_ENTER) !== 0
}

function isHomeEntry(name: string): boolean {
  return HOME_ENTRY.test(name)
}

function isOpen(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found !== undefined && (found.isFile() || found.isDirectory()) && isOpenToOthers(found)
}

function listChildren(directory: string): string[] {
  try {
    return readdirSync(directory).map((name) => join(directory, name))
  } catch {
    // A file, or not readable by this user.
    return []
  }
}

function listStores(home: string): string[] {
  return ['store.db', 'store.db-segments', 'store.lmdb', 'store.level'].map((name) => join(home, name))
}

/** Throws EACCES if another user owns a path and could read it. The superuser can read everything anyway. */
function assertOwner(home: string, path: string, user: number): void {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined || found.uid === user || found.uid === SUPERUSER) return
  const newFileOwner = findNewFileOwner(home)
  if (newFileOwner === undefined || newFileOwner === found.uid) return
  const detail = `${path} belongs to user ${found.uid}, who could read your data; use a home that you own`
  throw new VfsError('EACCES', path, { op: 'open', detail })
}

/** Returns the owner of a new file here, which the file system may decide; undefined if none can be created. */
function findNewFileOwner(home: string): number | undefined {
  const path = join(home, `doctor-${createProcessTag()}`)
  try {
    if (!makePrivateFile(path)) return undefined
    return statSync(path).uid
  } catch {
    return undefined
  } finally {
    rmSync(path, { force: true })
  }
}

/** Throws EACCES for a linked store: the owner of a home could lead the superuser to any file of the machine. */
function assertNoLinks(home: string): void {
  const link = listStores(home).find((path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
  if (link === undefined) return
  const detail = `${link} is a link in another user's home, which the superuser must not follow; open the home as its owner`
  throw new VfsError('EACCES', link, { op: 'open', detail })
}
