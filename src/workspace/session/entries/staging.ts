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
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { chownIfPermitted, toFileTime, toUtimesArgument, writeSparse } from '../../../machine/index.ts'
import type { StagedChange } from '../command-session.ts'
import { findEntryStats } from './entry-stats.ts'
import { LinkFreePaths } from './link-free-paths.ts'

type StagedPut = Extract<StagedChange, { kind: 'put' }>

const PERMISSION_BITS = 0o7777
const PRIVATE_FILE_MODE = 0o600
/** After so many, others have a turn. */
const YIELD_EVERY = 100

/**
 * Makes earlier changes on this machine. Directories get their permissions and times when all that is in them is there.
 * The calls do not wait for each other's turn: there may be thousands, of which each takes less than a turn does.
 */
export class Staging {
  readonly #root: string
  readonly #pendingAttributes: (() => void)[] = []
  #made = 0

  /** @param root where the paths of changes begin on this machine. */
  constructor(root: string) {
    this.#root = root
  }

  /** Makes what a change says at its path. What is there of another type goes. */
  async put(change: StagedPut): Promise<void> {
    this.#make(change, join(this.#root, change.path))
    this.#made++
    if (this.#made % YIELD_EVERY === 0) await nextTurn()
  }

  #make(change: StagedPut, host: string): void {
    const there = findEntryStats(host)
    const staysDirectory = change.type === 'directory' && there?.isDirectory() === true
    if (there !== undefined && !staysDirectory) rmSync(host, { recursive: true })
    if (change.linkOf !== undefined && tryLink(join(this.#root, change.linkOf), host)) return
    if (change.type === 'file') writeContent(host, change.content?.() ?? [])
    else if (change.type === 'symlink') symlinkSync(change.target ?? '', host)
    else if (!staysDirectory) mkdirSync(host)
    if (change.type === 'directory') this.#pendingAttributes.push(() => applyAttributes(change, host))
    else applyAttributes(change, host)
  }

  /** Makes a directory like another, which is all it is made from. */
  createDirectoryLike(from: string, host: string): void {
    mkdirSync(host)
    this.#pendingAttributes.push(() => copyAttributes(from, host))
  }

  /** To be called when everything is put. */
  finish(): void {
    for (const dressDirectory of this.#pendingAttributes.toReversed()) dressDirectory()
  }
}

/**
 * Makes changes in a directory of this machine that has what they are changes of. Of what is behind a link there,
 * nothing is removed, and ECONFLICT if something is to be put.
 */
export async function stageInto(root: string, staged: readonly StagedChange[]): Promise<void> {
  const before = new LinkFreePaths(root)
  for (const { kind, path } of staged) {
    if (kind === 'gone' && before.isReachable(path))
      await rm(join(root, path), { recursive: true, force: true })
  }
  const ways = new LinkFreePaths(root)
  const staging = new Staging(root)
  for (const put of sortPuts(staged)) {
    ways.assertDirectory(dirname(put.path))
    await staging.put(put)
  }
  staging.finish()
}

/** Earlier changes that put something, in an order in which each finds its parent, and what it is another name of. */
export function sortPuts(staged: readonly StagedChange[]): StagedPut[] {
  const puts = staged
    .filter((change) => change.kind === 'put')
    .toSorted((one, other) => (one.path < other.path ? -1 : 1))
  const isFirst = ({ linkOf }: StagedPut) => linkOf === undefined
  return [...puts.filter(isFirst), ...puts.filter((put) => !isFirst(put))]
}

/** Gives what is at a path another name; false where it cannot be. */
function tryLink(first: string, host: string): boolean {
  try {
    linkSync(first, host)
    return true
  } catch {
    // No disk for it, or too many names: then it is a file of its own.
    return false
  }
}

/** Gives a directory the owner, the permissions and the times of another. */
export function copyAttributes(from: string, to: string): void {
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
  // After the owner, whose change takes set-user-id bits away.
  if (type !== 'symlink') chmodSync(host, mode)
}
