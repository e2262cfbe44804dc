import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isLeftover, ownMark } from '../../machine/index.ts'
import { type Step, takeBack } from './directory-steps.ts'
import { isErrno } from './host-stats.ts'

export const PLAN_FILE = 'plan.json'
const STAGE = /^\.coppice-apply-([-0-9a-f]+)$/

/** A name for a stage in a directory: on the same disk, so that names can change hands. */
export function newStageName(): string {
  return `.coppice-apply-${ownMark()}`
}

/** Whether the process that made a stage is gone. */
export function isAbandoned(stageName: string): boolean {
  const [, owner] = STAGE.exec(stageName) ?? []
  return owner !== undefined && isLeftover(owner)
}

/** Takes back what was begun in a directory and never finished. */
export function takeBackUnfinished(directory: string, stageName: string): void {
  const stage = join(directory, stageName)
  const steps = planOf(stage)
  if (steps !== undefined) takeBack(directory, stage, steps)
  rmSync(stage, { recursive: true, force: true })
}

/** Undefined if nothing had been changed yet, or all of it: the plan comes before the first step and goes after the last. */
function planOf(stage: string): readonly Step[] | undefined {
  try {
    const steps: readonly Step[] = JSON.parse(readFileSync(join(stage, PLAN_FILE), 'utf8'))
    return steps
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  }
}
