import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isLeftover } from '../../machine/index.ts'
import { type Step, takeBack } from './directory-steps.ts'
import { isErrno } from './host-stats.ts'
import { stageMark } from './own-names.ts'

export const PLAN_FILE = 'plan.json'

/** Whether the process that made a stage is gone. */
export function isAbandoned(stageName: string): boolean {
  return isLeftover(stageMark(stageName) ?? '')
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
