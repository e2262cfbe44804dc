import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  lutimesSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { giveTo, type Owner, utimesArgument } from '../../machine/index.ts'
import type { TreeChange } from './compare-trees.ts'
import { type Step, takeBack } from './directory-steps.ts'
import type { Entry } from './entry.ts'
import { isErrno } from './host-stats.ts'
import { PLAN_FILE } from './unfinished-write.ts'
import { notWritten } from './write-failure.ts'

const PRIVATE_DIRECTORY = 0o700
const PRIVATE_FILE = 0o600
/** What a disk without hard links says, and a system that lets nobody link the files of others. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']

/**
 * Brings changes into a directory of this machine: all of them or none. Everything new is written beside its place
 * first; then names change hands, and whatever fails is taken back (ENOSPC, EROFS, EACCES, EXDEV, EIO). Should this
 * process be killed in between, the next one takes it back (`takeBackUnfinished`).
 */
export function writeDirectory(directory: string, stageName: string, changes: readonly TreeChange[]): void {
  const stage = join(directory, stageName)
  const steps = [...removals(changes), ...replacements(changes), ...additions(changes)]
  try {
    prepare(stage, changes)
    writePlan(stage, steps)
  } catch (error) {
    discard(stage)
    throw notWritten(directory, stage, error)
  }
  perform(directory, stage, steps)
  unlinkSync(join(stage, PLAN_FILE))
  discard(stage)
}

function prepare(stage: string, changes: readonly TreeChange[]): void {
  for (const path of [stage, join(stage, 'new'), join(stage, 'old')]) mkdirSync(path, PRIVATE_DIRECTORY)
  for (const [index, { after }] of changes.entries()) {
    if (after !== undefined && after.type !== 'directory') make(join(stage, 'new', String(index)), after)
  }
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

function replacements(changes: readonly TreeChange[]): Step[] {
  return changes.flatMap(({ path, before, after }, index): Step[] => {
    if (before === undefined || after === undefined || before.type !== after.type) return []
    if (after.type !== 'directory') return [{ op: 'replace', path, index }]
    return [{ op: 'chmod', path, mode: after.mode, old: before.mode }]
  })
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

function make(path: string, entry: Entry): void {
  if (entry.type === 'symlink') symlinkSync(entry.target, path)
  else if (entry.type === 'file') writeContent(path, entry)
  const time = utimesArgument(entry.mtime)
  giveTo(path, entry)
  if (entry.type === 'file') chmodSync(path, entry.mode)
  lutimesSync(path, time, time)
}

function writeContent(path: string, entry: Entry): void {
  const fd = openSync(path, 'wx', PRIVATE_FILE)
  try {
    for (const chunk of entry.content()) {
      for (let at = 0; at < chunk.length; ) at += writeSync(fd, chunk, at)
    }
  } finally {
    closeSync(fd)
  }
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
