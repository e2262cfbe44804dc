import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { giveTo, type Owner } from '../../machine/index.ts'
import type { TreeChange } from './compare-trees.ts'
import { type Step, takeBack } from './directory-steps.ts'
import { type Entry, isSameEntry } from './entry.ts'
import { isErrno } from './host-stats.ts'
import { type FirstNames, makeNewFiles, NO_LINKS } from './new-files.ts'
import { PLAN_FILE } from './unfinished-write.ts'
import { notWritten } from './write-failure.ts'

const PRIVATE_DIRECTORY = 0o700

/**
 * Brings changes into a directory of this machine: all of them or none. Everything new is written beside its place
 * first; then names change hands, and whatever fails is taken back (ENOSPC, EROFS, EACCES, EXDEV, EIO). Should this
 * process be killed in between, the next one takes it back (`takeBackUnfinished`).
 */
export function writeDirectory(
  directory: string,
  stageName: string,
  changes: readonly TreeChange[],
  names: FirstNames = new Map(),
): void {
  const stage = join(directory, stageName)
  const steps = [...removals(changes), ...replacements(changes, names), ...additions(changes)]
  try {
    for (const path of [stage, join(stage, 'new'), join(stage, 'old')]) mkdirSync(path, PRIVATE_DIRECTORY)
    const brought = new Set(
      steps.map((step) => (step.op === 'replace' || step.op === 'place' ? step.index : -1)),
    )
    const news = changes
      .map((change, index) => ({ ...change, index }))
      .filter(({ index }) => brought.has(index))
    makeNewFiles(directory, stage, news, names)
    writePlan(stage, steps)
  } catch (error) {
    discard(stage)
    throw notWritten(directory, stage, error)
  }
  perform(directory, stage, steps)
  unlinkSync(join(stage, PLAN_FILE))
  discard(stage)
}

function discard(stage: string): void {
  rmSync(stage, { recursive: true, force: true })
}

function removals(changes: readonly TreeChange[]): Step[] {
  const steps: Step[] = []
  for (const [index, { path, before, after }] of changes.entries()) {
    if (before === undefined || before.type === after?.type) continue
    const { mode } = before
    if (before.type === 'directory') steps.push({ op: 'rmdir', path, mode, owner: ownerOf(before) })
    else steps.push({ op: 'take', path, index })
  }
  // What is in a directory goes before it.
  return steps.reverse()
}

function replacements(changes: readonly TreeChange[], names: FirstNames): Step[] {
  return changes.flatMap(({ path, before, after }, index): Step[] => {
    if (before === undefined || after === undefined || before.type !== after.type) return []
    const isItself = after.type === 'directory' || (!names.has(path) && isOnlyMode(before, after))
    if (!isItself) return [{ op: 'replace', path, index }]
    return [{ op: 'chmod', path, mode: after.mode, old: before.mode }]
  })
}

/** A file that only gets other permissions stays the file it is, with its other names and all that is kept with it. */
function isOnlyMode(before: Entry, after: Entry): boolean {
  const { mode, uid, gid, mtime } = before
  const isSameOwner = uid === after.uid && gid === after.gid
  const isSameTime = mtime.seconds === after.mtime.seconds && mtime.nanos === after.mtime.nanos
  return after.type === 'file' && isSameOwner && isSameTime && isSameEntry(before, { ...after, mode })
}

function additions(changes: readonly TreeChange[]): Step[] {
  const steps: Step[] = []
  const modes: Step[] = []
  for (const [index, { path, before, after }] of changes.entries()) {
    if (after === undefined || before?.type === after.type) continue
    if (after.type !== 'directory') steps.push({ op: 'place', path, index })
    else {
      steps.push({ op: 'mkdir', path, owner: ownerOf(after) })
      modes.push({ op: 'chmod', path, mode: after.mode, old: PRIVATE_DIRECTORY })
    }
  }
  // A directory nobody may write in gets its permissions when everything is in it.
  return [...steps, ...modes.reverse()]
}

function ownerOf({ uid, gid }: Entry): Owner {
  return { uid, gid }
}

function makeDirectory(path: string, owner: Owner): void {
  mkdirSync(path, PRIVATE_DIRECTORY)
  giveTo(path, owner)
}

/** From here on a process that finds the stage knows how to take everything back. */
function writePlan(stage: string, steps: readonly Step[]): void {
  const path = join(stage, PLAN_FILE)
  writeFileSync(`${path}.new`, JSON.stringify(steps))
  const fd = openSync(`${path}.new`, 'r')
  fsyncSync(fd)
  closeSync(fd)
  renameSync(`${path}.new`, path)
}

function perform(directory: string, stage: string, steps: readonly Step[]): void {
  try {
    for (const step of steps) performStep(directory, stage, step)
  } catch (error) {
    // Should this fail too, the stage stays with all that was taken away, and the next process tries again.
    takeBack(directory, stage, steps)
    discard(stage)
    throw notWritten(directory, stage, error)
  }
}

function performStep(directory: string, stage: string, step: Step): void {
  const path = directory + step.path
  if (step.op === 'mkdir') makeDirectory(path, step.owner)
  else if (step.op === 'rmdir') rmdirSync(path)
  else if (step.op === 'chmod') chmodSync(path, step.mode)
  else {
    const [old, fresh] = [join(stage, 'old', String(step.index)), join(stage, 'new', String(step.index))]
    if (step.op === 'take') renameSync(path, old)
    else if (step.op === 'replace') {
      keepOld(path, old)
      renameSync(fresh, path)
    } else placeNew(fresh, path)
  }
}

/** The old one gets another name, so that the new one can take its place in one step. */
function keepOld(path: string, old: string): void {
  try {
    linkSync(path, old)
  } catch (error) {
    if (!isErrno(error, ...NO_LINKS)) throw error
    renameSync(path, old)
  }
}

/** A second name fails where there is something already, which a rename does not. */
function placeNew(fresh: string, path: string): void {
  try {
    linkSync(fresh, path)
    unlinkSync(fresh)
  } catch (error) {
    if (!isErrno(error, ...NO_LINKS)) throw error
    renameSync(fresh, path)
  }
}
