import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  futimesSync,
  linkSync,
  lutimesSync,
  openSync,
  symlinkSync,
} from 'node:fs'
import {
  chownIfPermitted,
  type FileOwner,
  findOwnerChange,
  isErrno,
  toUtimesArgument,
  writeSparse,
} from '../../machine/index.ts'
import type { ApplyStage } from './apply-stage.ts'
import type { TreeChange } from './compare-trees.ts'
import { backUpFiles } from './directory-steps.ts'
import { NO_HARD_LINK_CODES } from './host-stats.ts'
import type { HostTree } from './host-tree.ts'
import { keepAttributes } from './keep-attributes.ts'
import type { LinkEntry } from './link-entry.ts'

const PRIVATE_FILE_MODE = 0o600
const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants

/** Maps each changed path that is one of several names of a file to the first of them. */
export type FirstNames = ReadonlyMap<string, string>

/** A change that creates a file or a link, with its name in the stage. */
interface NewEntry extends TreeChange {
  readonly index: number
}

/**
 * Creates the new entries in `new` of a stage, each named by its index. Several names of one file stay one file. A
 * replacement keeps the attributes of the old file.
 */
export function createNewFiles(
  tree: HostTree,
  stage: ApplyStage,
  changes: readonly NewEntry[],
  names: FirstNames,
): void {
  const firsts = new Map<string, NewEntry>()
  const getFirst = (change: NewEntry) => firsts.get(names.get(change.path) ?? change.path) ?? change
  for (const change of changes) firsts.set(names.get(change.path) ?? change.path, getFirst(change))
  const replacing = changes.filter((change) => getFirst(change) === change && isReplacing(change))
  // Attributes come before content: writing clears a program's capabilities.
  backUpFiles(tree, stage, replacing)
  const existing = keepAttributes(stage)
  const writer = new NewFileWriter()
  for (const change of changes) {
    const [stagePath, first] = [getStagePath(stage, change.index), getFirst(change)]
    if (first !== change && tryLink(getStagePath(stage, first.index), stagePath)) continue
    if (change.after?.type === 'file') writer.write(stagePath, change.after, existing.has(change.index))
    else if (change.after?.type === 'symlink') createLink(stagePath, change.after)
  }
}

function isReplacing({ before, after }: NewEntry): boolean {
  return before?.type === 'file' && after?.type === 'file'
}

function getStagePath(stage: ApplyStage, index: number): string {
  return stage.fresh.at(String(index))
}

function tryLink(first: string, stagePath: string): boolean {
  try {
    linkSync(first, stagePath)
    return true
  } catch (error) {
    if (!isErrno(error, ...NO_HARD_LINK_CODES)) throw error
    return false
  }
}

function createLink(path: string, entry: LinkEntry): void {
  symlinkSync(entry.target, path)
  chownIfPermitted(path, entry)
  const time = toUtimesArgument(entry.mtime)
  lutimesSync(path, time, time)
}

/** Writes new files of one directory. */
class NewFileWriter {
  /** Owner of a file that this process creates there. */
  #owner: FileOwner | undefined

  /** @param mayExist true if the file may exist: empty, and with permissions that may deny writing. */
  write(path: string, entry: LinkEntry, mayExist: boolean): void {
    const fd = mayExist ? openExisting(path) : openSync(path, O_WRONLY | O_CREAT | O_EXCL, PRIVATE_FILE_MODE)
    try {
      this.#owner ??= fstatSync(fd)
      const owner = findOwnerChange(this.#owner, entry)
      writeSparse(fd, entry.content())
      if (owner !== undefined) fchownSync(fd, owner.uid, owner.gid)
      fchmodSync(fd, entry.mode)
      const time = toUtimesArgument(entry.mtime)
      futimesSync(fd, time, time)
    } finally {
      closeSync(fd)
    }
  }
}

function openExisting(path: string): number {
  const flags = O_WRONLY | O_CREAT | O_NOFOLLOW
  try {
    return openSync(path, flags, PRIVATE_FILE_MODE)
  } catch (error) {
    if (!isErrno(error, 'EACCES')) throw error
    chmodSync(path, PRIVATE_FILE_MODE)
    return openSync(path, flags, PRIVATE_FILE_MODE)
  }
}
