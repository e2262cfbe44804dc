import { chmodSync, closeSync, linkSync, lutimesSync, openSync, symlinkSync } from 'node:fs'
import { chownIfPermitted, isErrno, toUtimesArgument, writeSparse } from '../../machine/index.ts'
import type { ApplyStage } from './apply-stage.ts'
import type { TreeChange } from './compare-trees.ts'
import { NO_HARD_LINK_CODES } from './host-stats.ts'
import type { HostTree } from './host-tree.ts'
import { keepAttributes } from './keep-attributes.ts'
import type { LinkEntry } from './link-entry.ts'

const PRIVATE_FILE_MODE = 0o600

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
  const replacing = new Set(changes.filter((change) => getFirst(change) === change && isReplacing(change)))
  for (const { index } of replacing) closeSync(openSync(getStagePath(stage, index), 'wx', PRIVATE_FILE_MODE))
  // Attributes come before content: writing clears a program's capabilities.
  keepAttributes(tree, stage, [...replacing])
  for (const change of changes) {
    const [stagePath, first] = [getStagePath(stage, change.index), getFirst(change)]
    if (first !== change && tryLink(getStagePath(stage, first.index), stagePath)) continue
    if (change.after !== undefined) createEntry(stagePath, change.after, replacing.has(change))
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

function createEntry(path: string, entry: LinkEntry, isThere: boolean): void {
  if (entry.type === 'symlink') symlinkSync(entry.target, path)
  else if (entry.type === 'file') writeContent(path, entry, isThere)
  const time = toUtimesArgument(entry.mtime)
  chownIfPermitted(path, entry)
  if (entry.type === 'file') chmodSync(path, entry.mode)
  lutimesSync(path, time, time)
}

function writeContent(path: string, entry: LinkEntry, isThere: boolean): void {
  // It has the permissions of the file that it replaces, which may deny writing.
  if (isThere) chmodSync(path, PRIVATE_FILE_MODE)
  const fd = openSync(path, isThere ? 'r+' : 'wx', PRIVATE_FILE_MODE)
  try {
    writeSparse(fd, entry.content())
  } finally {
    closeSync(fd)
  }
}
