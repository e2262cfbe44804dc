import { lstatSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  createProcessTag,
  isOpenToOthers,
  makePrivate,
  makePrivateDirectory,
  makePrivateFile,
} from '../../machine/index.ts'
import { VfsError } from '../../vfs/index.ts'

/** What the directory of a home holds. Anything else is the user's, and so may be the directory. */
const HOME_ENTRY =
  /^(?:store\.(?:db(?:-.+)?|lmdb|level)|home\.json|(?:config|policy)\.toml(?:\..+)?|agents|checkouts|data|doctor-.+|locks|run|scripts|serving|sessions|skills|tool_cache|vfs)$/
/** Directories of files that are all ours; in the others there may be files with permissions of their own. */
const OWN_DIRECTORY = /^(?:store\.(?:lmdb|level)|data|serving)$/
const STICKY = 0o1000
const OTHERS_WRITE = 0o002
const OTHERS_ENTER = 0o011
const SUPERUSER = 0

/**
 * Makes the directory of a home, for its owner alone, or takes the permissions of others from one that is there.
 * Returns the paths that others had permissions on until now. EACCES if it belongs to another user.
 */
export function openHomeDirectory(path: string): string[] {
  makePrivateDirectory(path)
  const user = process.geteuid?.()
  if (user === undefined) return []
  const home = realpathSync(path)
  const found = statSync(home)
  if (user !== SUPERUSER) for (const place of [home, ...listStores(home)]) assertOwner(home, place, user)
  else if (found.uid !== SUPERUSER) assertNoLinks(home)
  const owner = user === SUPERUSER ? found.uid : user
  const open = listOpenPaths(home)
  for (const place of listOwnPaths(home)) if (isOpen(place)) makePrivate(place, owner)
  return open.filter((place) => !isOpen(place))
}

/** What other users of this machine may read or enter in a home. */
export interface HomePrivacy {
  /** Until now. */
  readonly mended: readonly string[]
  /** Still: it belongs to another user, or the file system has no permissions. */
  readonly open: readonly string[]
  /** Directories above it that everybody may change, and put another home in its place. */
  readonly exposedBy: readonly string[]
}

/** Takes the permissions of others from a home, as opening it does. EACCES if it belongs to another user. */
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

/** What other users of this machine have permissions on in a home, and can reach. */
function listOpenPaths(home: string): string[] {
  return listOwnPaths(home).filter(
    (path) =>
      isOpen(path) && (path === home || (isHomeSubdirectory(home) && isHomeSubdirectory(dirname(path)))),
  )
}

/** Everything that is the home's own, down to where files of vaults and of the user begin. */
function listOwnPaths(home: string): string[] {
  const names = readdirSync(home)
  // Where there is anything else, or everybody may make something, the directory is not only the home's.
  const isOnlyHome = names.every(isHomeEntry) && (statSync(home).mode & STICKY) === 0
  const entries = names
    .filter(isHomeEntry)
    .flatMap((name) => [
      join(home, name),
      ...(OWN_DIRECTORY.test(name) ? listChildren(join(home, name)) : []),
    ])
  return isOnlyHome ? [home, ...entries] : entries
}

function isHomeSubdirectory(directory: string): boolean {
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
    // A file, or closed to this user.
    return []
  }
}

function listStores(home: string): string[] {
  return ['store.db', 'store.lmdb', 'store.level'].map((name) => join(home, name))
}

/** Whoever owns a store reads what is written to it. The superuser can read everything anyway. */
function assertOwner(home: string, path: string, user: number): void {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined || found.uid === user || found.uid === SUPERUSER) return
  const given = findNewFileOwner(home)
  if (given === undefined || given === found.uid) return
  const detail = `${path} belongs to the user ${found.uid}, who could read what you write there; name a home of your own`
  throw new VfsError('EACCES', path, { op: 'open', detail })
}

/** The owner that a new file gets here, which the file system may decide; undefined if none can be made. */
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

/** The owner of a home could lead the superuser to any file of the machine. */
function assertNoLinks(home: string): void {
  const link = listStores(home).find((path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
  if (link === undefined) return
  const detail = `${link} is a link in a home of another user, which the superuser does not follow`
  throw new VfsError('EACCES', link, { op: 'open', detail })
}
