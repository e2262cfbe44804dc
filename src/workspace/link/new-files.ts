import { chmodSync, closeSync, linkSync, lutimesSync, openSync, symlinkSync } from 'node:fs'
import { giveTo, utimesArgument, writeSparse } from '../../machine/index.ts'
import type { TreeChange } from './compare-trees.ts'
import type { Entry } from './entry.ts'
import { isErrno, NO_LINKS } from './host-stats.ts'
import type { HostTree } from './host-tree.ts'
import { keepAttributes } from './kept-attributes.ts'
import type { Stage } from './stage.ts'

const PRIVATE_FILE = 0o600

/** Of each changed path that is one of several names of a file, the first of them. */
export type FirstNames = ReadonlyMap<string, string>

/** A change that brings a file or a link, with the name it has in a stage. */
interface Brought extends TreeChange {
  readonly index: number
}

/**
 * Makes what changes bring in `new` of a stage, each by its index. Several names of one file are one file; what replaces
 * a file keeps its attributes.
 */
export function makeNewFiles(
  tree: HostTree,
  stage: Stage,
  changes: readonly Brought[],
  names: FirstNames,
): void {
  const firsts = new Map<string, Brought>()
  const firstOf = (change: Brought) => firsts.get(names.get(change.path) ?? change.path) ?? change
  for (const change of changes) firsts.set(names.get(change.path) ?? change.path, firstOf(change))
  const replacing = new Set(changes.filter((change) => firstOf(change) === change && isReplacing(change)))
  for (const { index } of replacing) closeSync(openSync(placeOf(stage, index), 'wx', PRIVATE_FILE))
  // Before their content: to write it takes away what lets a program have powers of its own.
  keepAttributes(tree, stage, [...replacing])
  for (const change of changes) {
    const [place, first] = [placeOf(stage, change.index), firstOf(change)]
    if (first !== change && linked(placeOf(stage, first.index), place)) continue
    if (change.after !== undefined) make(place, change.after, replacing.has(change))
  }
}

function isReplacing({ before, after }: Brought): boolean {
  return before?.type === 'file' && after?.type === 'file'
}

function placeOf(stage: Stage, index: number): string {
  return stage.fresh.at(String(index))
}

function linked(first: string, place: string): boolean {
  try {
    linkSync(first, place)
    return true
  } catch (error) {
    if (!isErrno(error, ...NO_LINKS)) throw error
    return false
  }
}

function make(path: string, entry: Entry, isThere: boolean): void {
  if (entry.type === 'symlink') symlinkSync(entry.target, path)
  else if (entry.type === 'file') writeContent(path, entry, isThere)
  const time = utimesArgument(entry.mtime)
  giveTo(path, entry)
  if (entry.type === 'file') chmodSync(path, entry.mode)
  lutimesSync(path, time, time)
}

function writeContent(path: string, entry: Entry, isThere: boolean): void {
  // It has the permissions of what it replaces, which may let nobody write.
  if (isThere) chmodSync(path, PRIVATE_FILE)
  const fd = openSync(path, isThere ? 'r+' : 'wx', PRIVATE_FILE)
  try {
    writeSparse(fd, entry.content())
  } finally {
    closeSync(fd)
  }
}
