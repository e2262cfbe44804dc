import { chmodSync, mkdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { giveTo, type Owner } from '../../machine/index.ts'
import { isErrno, statsAt } from './host-stats.ts'

/**
 * One step of bringing changes into a directory. `index` names what was there (`old/<index>` of the stage) and what
 * comes (`new/<index>`).
 */
export type Step =
  | { readonly op: 'take' | 'replace' | 'place'; readonly path: string; readonly index: number }
  | { readonly op: 'mkdir'; readonly path: string; readonly owner: Owner }
  | { readonly op: 'rmdir'; readonly path: string; readonly mode: number; readonly owner: Owner }
  | { readonly op: 'chmod'; readonly path: string; readonly mode: number; readonly old: number }

/** Takes back what was done of some steps, the last first. What was not done is left alone, so it can be run again. */
export function takeBack(directory: string, stage: string, steps: readonly Step[]): void {
  for (const step of steps.toReversed()) {
    const path = directory + step.path
    if (step.op === 'mkdir') removeIfEmpty(path)
    else if (step.op === 'rmdir') remake(path, step)
    else if (step.op === 'chmod') chmodIfThere(path, step.old)
    else {
      const old = join(stage, 'old', String(step.index))
      if (statsAt(old) !== undefined) renameSync(old, path)
      else if (step.op === 'place' && wasPlaced(path, join(stage, 'new', String(step.index))))
        unlinkSync(path)
    }
  }
}

/** Placed wholly, or with the name in the stage not yet taken away: then both are one file. */
function wasPlaced(path: string, fresh: string): boolean {
  const placed = statsAt(path)
  const staged = statsAt(fresh)
  return placed !== undefined && (staged === undefined || staged.ino === placed.ino)
}

function removeIfEmpty(path: string): void {
  try {
    rmdirSync(path)
  } catch (error) {
    // Somebody put something into it, or it was never made.
    if (!isErrno(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR')) throw error
  }
}

function remake(path: string, { mode, owner }: Extract<Step, { op: 'rmdir' }>): void {
  if (statsAt(path) !== undefined) return
  mkdirSync(path)
  giveTo(path, owner)
  chmodSync(path, mode)
}

function chmodIfThere(path: string, mode: number): void {
  // Of a link it would be the permissions of what it leads to.
  if (statsAt(path)?.isSymbolicLink() === false) chmodSync(path, mode)
}
