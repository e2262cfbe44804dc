import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  unlinkSync,
} from 'node:fs'
import { type Directory, giveTo, type Owner } from '../../machine/index.ts'
import { HostFailure } from './host-failure.ts'
import { isErrno, NO_LINKS, statsAt } from './host-stats.ts'
import type { HostPlace, HostTree } from './host-tree.ts'
import type { Stage } from './stage.ts'
import type { Step } from './step.ts'

export const PRIVATE_DIRECTORY = 0o700
const PERMISSIONS = 0o7777

export function performStep(tree: HostTree, stage: Stage, step: Step): void {
  tree.use(step.path, (place) => {
    const path = place.directory.at(place.name)
    if (step.op === 'mkdir') makeDirectory(place, step.owner, PRIVATE_DIRECTORY)
    else if (step.op === 'rmdir') rmdirSync(path)
    else if (step.op === 'chmod') place.directory.pinned(place.name, (pin) => chmodSync(pin, step.mode))
    else {
      const [old, fresh] = [stage.old.at(String(step.index)), stage.fresh.at(String(step.index))]
      if (step.op === 'take') take(path, old)
      else if (step.op === 'replace') {
        keepOld(path, old)
        renameSync(fresh, path)
      } else placeNew(fresh, path)
    }
  })
}

/** Takes back what was done of some steps, the last first. What was not done is left alone, so it can be run again. */
export function takeBackSteps(tree: HostTree, stage: Stage, steps: readonly Step[]): void {
  const failures: unknown[] = []
  for (const step of steps.toReversed()) {
    try {
      takeBackStep(tree, stage, step)
    } catch (error) {
      // The others are taken back all the same.
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}

function takeBackStep(tree: HostTree, stage: Stage, step: Step): void {
  if (step.op === 'mkdir') removeIfEmpty(tree, step.path)
  else if (step.op === 'chmod') chmodIfThere(tree, step)
  else if (step.op === 'rmdir') tree.use(step.path, (place) => remake(place, step))
  else {
    const [old, fresh] = [stage.old.at(String(step.index)), stage.fresh.at(String(step.index))]
    if (statsAt(old) !== undefined) {
      tree.use(step.path, ({ directory, name }) => renameSync(old, directory.at(name)))
    } else if (step.op === 'place') {
      ifThere(() => tree.use(step.path, ({ directory, name }) => unplace(directory.at(name), fresh)))
    }
  }
}

function take(path: string, old: string): void {
  renameSync(path, old)
  assertNoDirectory(old, path)
}

/** The old one gets another name, so that the new one can take its place in one step. */
function keepOld(path: string, old: string): void {
  try {
    linkSync(path, old)
  } catch (error) {
    if (!isErrno(error, ...NO_LINKS)) throw error
    renameSync(path, old)
  }
  assertNoDirectory(old, path)
}

/** Somebody put a directory in the place of a file: it must not go with the stage. */
function assertNoDirectory(old: string, path: string): void {
  if (lstatSync(old).isDirectory())
    throw new HostFailure('EISDIR', path, `EISDIR: a directory took the place of a file, rename '${path}'`)
}

/** A second name fails where there is something already, which a rename does not. */
function placeNew(fresh: string, path: string): void {
  try {
    linkSync(fresh, path)
  } catch (error) {
    if (!isErrno(error, ...NO_LINKS)) throw error
    renameSync(fresh, path)
    return
  }
  unlinkSync(fresh)
}

/** Placed wholly, or with the name in the stage not yet taken away: then both are one file. */
function unplace(path: string, fresh: string): void {
  const placed = statsAt(path)
  const staged = statsAt(fresh)
  if (placed !== undefined && (staged === undefined || staged.ino === placed.ino)) unlinkSync(path)
}

function removeIfEmpty(tree: HostTree, path: string): void {
  try {
    tree.use(path, ({ directory, name }) => rmdirSync(directory.at(name)))
  } catch (error) {
    // Somebody put something into it, or it was never made.
    if (!isErrno(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR')) throw error
  }
}

function remake(place: HostPlace, { mode, owner }: Extract<Step, { op: 'rmdir' }>): void {
  if (statsAt(place.directory.at(place.name)) === undefined) makeDirectory(place, owner, mode)
}

/** By descriptor, and only if it is the one that was made: somebody else may have put another in its place. */
function makeDirectory({ directory, name }: HostPlace, owner: Owner, mode: number): void {
  mkdirSync(directory.at(name), PRIVATE_DIRECTORY)
  const made = directory.enter(name)
  try {
    assertNew(made)
    const path = made.at('.')
    giveTo(path, owner)
    if (mode !== PRIVATE_DIRECTORY) chmodSync(path, mode)
  } finally {
    made.close()
  }
}

function assertNew(made: Directory): void {
  const path = made.at('.')
  const { uid, mode } = lstatSync(path)
  const isOwn =
    uid === (process.geteuid?.() ?? uid) && (mode & PERMISSIONS & ~PRIVATE_DIRECTORY & 0o777) === 0
  if (!isOwn || readdirSync(path).length > 0)
    throw new HostFailure('EEXIST', path, 'EEXIST: another directory took its place, mkdir')
}

function chmodIfThere(tree: HostTree, { path, type, old }: Extract<Step, { op: 'chmod' }>): void {
  ifThere(() =>
    tree.use(path, ({ directory, name }) => {
      const there = statsAt(directory.at(name))
      // Before the step, it may be what a directory was to replace. Plans of earlier versions do not say what it is.
      const isIt = type === 'directory' ? there?.isDirectory() : there?.isSymbolicLink() === false
      if (isIt) directory.pinned(name, (pin) => chmodSync(pin, old))
    }),
  )
}

function ifThere(step: () => void): void {
  try {
    step()
  } catch (error) {
    if (!isErrno(error, 'ENOENT', 'ENOTDIR')) throw error
  }
}
