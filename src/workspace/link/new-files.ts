import { chmodSync, closeSync, linkSync, lutimesSync, openSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { giveTo, utimesArgument, writeSparse } from '../../machine/index.ts'
import type { TreeChange } from './compare-trees.ts'
import type { Entry } from './entry.ts'
import { isErrno } from './host-stats.ts'
import { keepAttributes } from './kept-attributes.ts'

const PRIVATE_FILE = 0o600
/** What a disk without hard links says, and a system that lets nobody link the files of others. */
export const NO_LINKS: readonly string[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']

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
  directory: string,
  stage: string,
  changes: readonly Brought[],
  names: FirstNames,
): void {
  const firsts = new Map<string, Brought>()
  const firstOf = (change: Brought) => firsts.get(names.get(change.path) ?? change.path) ?? change
  for (const change of changes) firsts.set(names.get(change.path) ?? change.path, firstOf(change))
  const replacing = new Set(changes.filter((change) => firstOf(change) === change && isReplacing(change)))
  for (const { index } of replacing) closeSync(openSync(placeOf(stage, index), 'wx', PRIVATE_FILE))
  // Before their content: to write it takes away what lets a program have powers of its own.
  keepAttributes(directory, stage, [...replacing])
  for (const change of changes) {
    const [place, first] = [placeOf(stage, change.index), firstOf(change)]
    if (first !== change && linked(placeOf(stage, first.index), place)) continue
    if (change.after !== undefined) make(place, change.after, replacing.has(change))
  }
}

function isReplacing({ before, after }: Brought): boolean {
  return before?.type === 'file' && after?.type === 'file'
}

function placeOf(stage: string, index: number): string {
  return join(stage, 'new', String(index))
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
