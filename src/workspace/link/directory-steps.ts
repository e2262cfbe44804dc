import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  type Stats,
  statSync,
  unlinkSync,
} from 'node:fs'
import { chownIfPermitted, type DirectoryHandle, type FileOwner, isErrno } from '../../machine/index.ts'
import type { ApplyStage } from './apply-stage.ts'
import type { ApplyStep } from './apply-step.ts'
import { HostPathError } from './host-path-error.ts'
import { findStats, NO_HARD_LINK_CODES } from './host-stats.ts'
import type { HostDentry, HostTree } from './host-tree.ts'
import { PERMISSION_BITS } from './link-entry.ts'

export const PRIVATE_DIRECTORY_MODE = 0o700

type ChmodStep = Extract<ApplyStep, { op: 'chmod' }>

/** Performs one step of an apply. Throws EBUSY, EEXIST or EISDIR if another process put something else at its path. */
export function performStep(tree: HostTree, stage: ApplyStage, step: ApplyStep): void {
  tree.withDentry(step.path, (dentry) => {
    const path = dentry.directory.at(dentry.name)
    if (step.op === 'mkdir') makeDirectory(dentry, step.owner, PRIVATE_DIRECTORY_MODE)
    else if (step.op === 'rmdir') rmdirSync(path)
    else if (step.op === 'chmod') changeMode(tree, dentry, step)
    else {
      const [old, fresh] = [stage.old.at(String(step.index)), stage.fresh.at(String(step.index))]
      if (step.op === 'take') moveToStage(path, old)
      else if (step.op === 'replace') {
        const backup = stage.backups.get(step.index)
        if (backup === undefined) backUpOld(path, old)
        else assertUnreplaced(path, backup, tree.path + step.path)
        renameSync(fresh, path)
      } else placeNew(fresh, path)
    }
  })
}

/**
 * Reverts the completed ones of some steps, last first. Incomplete steps are skipped, so it can run again. Tries all, and
 * then throws the first error.
 */
export function revertSteps(tree: HostTree, stage: ApplyStage, steps: readonly ApplyStep[]): void {
  const failures: unknown[] = []
  for (const step of steps.toReversed()) {
    try {
      revertStep(tree, stage, step)
    } catch (error) {
      // The other steps are reverted nevertheless.
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}

function revertStep(tree: HostTree, stage: ApplyStage, step: ApplyStep): void {
  if (step.op === 'mkdir') removeIfEmpty(tree, step.path)
  else if (step.op === 'chmod') restoreMode(tree, step)
  else if (step.op === 'rmdir') tree.withDentry(step.path, (dentry) => recreateDirectory(dentry, step))
  else {
    const [old, fresh] = [stage.old.at(String(step.index)), stage.fresh.at(String(step.index))]
    if (findStats(old) !== undefined) {
      tree.withDentry(step.path, ({ directory, name }) => restoreOld(old, fresh, directory.at(name)))
    } else if (step.op === 'place') {
      ignoreMissing(() =>
        tree.withDentry(step.path, ({ directory, name }) => removePlaced(directory.at(name), fresh)),
      )
    }
  }
}

function moveToStage(path: string, old: string): void {
  renameSync(path, old)
  assertNoDirectory(old, path)
}

/** Gives the old entry another name, so that the new one can replace it in one step. */
function backUpOld(path: string, old: string): void {
  try {
    linkSync(path, old)
  } catch (error) {
    if (!isErrno(error, ...NO_HARD_LINK_CODES)) throw error
    renameSync(path, old)
  }
  assertNoDirectory(old, path)
}

/** Gives files that will be replaced a second name in a stage. Where that fails, `performStep` moves the file. */
export function backUpFiles(
  tree: HostTree,
  stage: ApplyStage,
  files: readonly { readonly index: number; readonly path: string }[],
): void {
  for (const { index, path } of files) {
    const old = stage.old.at(String(index))
    try {
      tree.withDentry(path, ({ directory, name }) => linkSync(directory.at(name), old))
    } catch {
      // The disk has no hard links, or the file belongs to another user. Other errors appear when it is replaced.
      continue
    }
    const stats = lstatSync(old)
    if (stats.isFile()) stage.backups.set(index, stats.ino)
    // Another process put a link there, of which `cp` would copy more than the attributes.
    else unlinkSync(old)
  }
}

function assertUnreplaced(path: string, inode: number, shownPath: string): void {
  if (lstatSync(path).ino !== inode) throw createReplacedError(shownPath)
}

function createReplacedError(path: string): HostPathError {
  return new HostPathError('EBUSY', path, `EBUSY: another process changed or replaced '${path}' meanwhile`)
}

/** Restores an old entry, unless it is still in place and was only backed up: then the stage has the new one. */
function restoreOld(old: string, fresh: string, path: string): void {
  const isReplaced = findStats(fresh) === undefined || findStats(path) === undefined
  if (isReplaced) renameSync(old, path)
}

/** Throws if a directory replaced the file meanwhile: it must not be deleted with the stage. */
function assertNoDirectory(old: string, path: string): void {
  if (lstatSync(old).isDirectory())
    throw new HostPathError('EISDIR', path, `EISDIR: a directory took the place of a file, rename '${path}'`)
}

/** Places the new entry by a hard link, which fails if the path exists. A rename would not. The stage keeps its name. */
function placeNew(fresh: string, path: string): void {
  try {
    linkSync(fresh, path)
  } catch (error) {
    if (!isErrno(error, ...NO_HARD_LINK_CODES)) throw error
    renameSync(fresh, path)
  }
}

/** Removes a placed entry. If its name in the stage still exists, both names are one file. */
function removePlaced(path: string, fresh: string): void {
  const placed = findStats(path)
  const staged = findStats(fresh)
  if (placed !== undefined && (staged === undefined || staged.ino === placed.ino)) unlinkSync(path)
}

function removeIfEmpty(tree: HostTree, path: string): void {
  try {
    tree.withDentry(path, ({ directory, name }) => rmdirSync(directory.at(name)))
  } catch (error) {
    // The directory is not empty, or was never created.
    if (!isErrno(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR')) throw error
  }
}

function recreateDirectory(dentry: HostDentry, { mode, owner }: Extract<ApplyStep, { op: 'rmdir' }>): void {
  if (findStats(dentry.directory.at(dentry.name)) === undefined) makeDirectory(dentry, owner, mode)
}

/** Creates a directory and sets its owner by descriptor, after a check that no other process replaced it. */
function makeDirectory({ directory, name }: HostDentry, owner: FileOwner, mode: number): void {
  mkdirSync(directory.at(name), PRIVATE_DIRECTORY_MODE)
  const made = directory.enter(name)
  try {
    assertNew(made)
    const path = made.at('.')
    chownIfPermitted(path, owner)
    if (mode !== PRIVATE_DIRECTORY_MODE) chmodSync(path, mode)
  } finally {
    made.close()
  }
}

function assertNew(made: DirectoryHandle): void {
  const path = made.at('.')
  const { uid, mode } = lstatSync(path)
  const isOwn =
    uid === (process.geteuid?.() ?? uid) && (mode & PERMISSION_BITS & ~PRIVATE_DIRECTORY_MODE & 0o777) === 0
  if (!isOwn || readdirSync(path).length > 0)
    throw new HostPathError('EEXIST', path, 'EEXIST: another directory took its place, mkdir')
}

function changeMode(tree: HostTree, { directory, name }: HostDentry, step: ChmodStep): void {
  directory.withPinnedPath(name, (pin) => {
    const stats = statSync(pin)
    const isExpected = stats.isDirectory() === (step.type === 'directory')
    if (!isExpected || (step.isTemporary && toPermissions(stats) !== step.old))
      throw createReplacedError(tree.path + step.path)
    chmodSync(pin, step.mode)
  })
}

function restoreMode(tree: HostTree, { path, type, mode, old, isTemporary }: ChmodStep): void {
  ignoreMissing(() =>
    tree.withDentry(path, ({ directory, name }) => {
      // Before the step, the path may hold an entry that a directory replaces.
      if (findStats(directory.at(name))?.isSymbolicLink() !== false) return
      directory.withPinnedPath(name, (pin) => {
        const stats = statSync(pin)
        // Plans of earlier versions lack the type.
        const isSameType = type !== 'directory' || stats.isDirectory()
        if (isSameType && (!isTemporary || toPermissions(stats) === mode)) chmodSync(pin, old)
      })
    }),
  )
}

function toPermissions({ mode }: Stats): number {
  return mode & PERMISSION_BITS
}

function ignoreMissing(step: () => void): void {
  try {
    step()
  } catch (error) {
    if (!isErrno(error, 'ENOENT', 'ENOTDIR')) throw error
  }
}
