import {
  chmodSync,
  closeSync,
  linkSync,
  lutimesSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { chownIfPermitted, toFileTime, toUtimesArgument, writeSparse } from '../../../machine/index.ts'
import type { StagedChange } from '../command-session.ts'
import { removeTree } from '../session-directory.ts'
import { findEntryStats } from './entry-stats.ts'
import { LinkFreePaths } from './link-free-paths.ts'

type StagedPut = Extract<StagedChange, { kind: 'put' }>

const PERMISSION_BITS = 0o7777
const PRIVATE_FILE_MODE = 0o600
/** Number of changes after which other work runs. */
const YIELD_EVERY = 100

/**
 * Applies earlier changes to a directory of this machine. Directories get their permissions and times at the end, when
 * their entries exist. Uses synchronous calls: each of thousands takes less time than a turn of the event loop.
 */
export class Staging {
  readonly #root: string
  readonly #pendingAttributes: (() => void)[] = []
  #putCount = 0

  /** @param root directory of this machine to which the paths of changes are relative. */
  constructor(root: string) {
    this.#root = root
  }

  /** Applies a change. An existing entry is replaced; a directory that stays one keeps its entries. */
  async put(change: StagedPut): Promise<void> {
    this.#apply(change, join(this.#root, change.path))
    this.#putCount++
    if (this.#putCount % YIELD_EVERY === 0) await nextTurn()
  }

  #apply(change: StagedPut, host: string): void {
    const existing = findEntryStats(host)
    const staysDirectory = change.type === 'directory' && existing?.isDirectory() === true
    if (existing !== undefined && !staysDirectory) rmSync(host, { recursive: true })
    if (change.linkOf !== undefined && tryLink(join(this.#root, change.linkOf), host)) return
    if (change.type === 'file') writeContent(host, change.content?.() ?? [])
    else if (change.type === 'symlink') symlinkSync(change.target ?? '', host)
    else if (!staysDirectory) mkdirSync(host)
    if (change.type === 'directory') this.#pendingAttributes.push(() => applyAttributes(change, host))
    else applyAttributes(change, host)
  }

  /** Creates a directory with the attributes of another. */
  createDirectoryLike(from: string, host: string): void {
    mkdirSync(host)
    this.#pendingAttributes.push(() => copyAttributesSync(from, host))
  }

  /** Sets the attributes of directories, after the last `put`. */
  finish(): void {
    for (const applyPending of this.#pendingAttributes.toReversed()) applyPending()
  }
}

/**
 * Applies changes to a directory of this machine that has their base. Removes nothing behind a link. Throws ECONFLICT
 * if a change would put something there.
 */
export async function stageInto(root: string, staged: readonly StagedChange[]): Promise<void> {
  const before = new LinkFreePaths(root)
  for (const { kind, path } of staged) {
    if (kind === 'gone' && before.isReachable(path)) await removeTree(join(root, path))
  }
  const reachable = new LinkFreePaths(root)
  const staging = new Staging(root)
  for (const put of sortPuts(staged)) {
    reachable.assertDirectory(dirname(put.path))
    await staging.put(put)
  }
  staging.finish()
}

/** Sorts the puts, so that each comes after its parent and after the first name of its file. */
export function sortPuts(staged: readonly StagedChange[]): StagedPut[] {
  const puts = staged
    .filter((change) => change.kind === 'put')
    .toSorted((one, other) => (one.path < other.path ? -1 : 1))
  const isFirst = ({ linkOf }: StagedPut) => linkOf === undefined
  return [...puts.filter(isFirst), ...puts.filter((put) => !isFirst(put))]
}

/** Adds a hard link; false if the disk refuses it. */
function tryLink(first: string, host: string): boolean {
  try {
    linkSync(first, host)
    return true
  } catch {
    // The disk has no hard links, or the file too many names: the caller writes a file of its own.
    return false
  }
}

/** Copies owner, permissions and times of a directory to another. */
export function copyAttributesSync(from: string, to: string): void {
  const { uid, gid, mode, atime, mtime } = statSync(from)
  chownIfPermitted(to, { uid, gid })
  utimesSync(to, atime, mtime)
  chmodSync(to, mode & PERMISSION_BITS)
}

function writeContent(host: string, content: Iterable<Uint8Array>): void {
  const file = openSync(host, 'wx', PRIVATE_FILE_MODE)
  try {
    writeSparse(file, content)
  } finally {
    closeSync(file)
  }
}

function applyAttributes({ type, mode, uid, gid, mtimeNs }: StagedPut, host: string): void {
  if (uid !== undefined && gid !== undefined) chownIfPermitted(host, { uid, gid })
  const time = toUtimesArgument(toFileTime(mtimeNs))
  lutimesSync(host, time, time)
  // After the owner: a change of owner clears set-user-id bits.
  if (type !== 'symlink') chmodSync(host, mode)
}
