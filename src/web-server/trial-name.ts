import { randomBytes } from 'node:crypto'

const TRIAL_NAME = /^trial-[0-9a-f]{12}$/

/** Creates the name of a trial: a throw-away fork in which a command is tried before it is approved. */
export function createTrialName(): string {
  return `trial-${randomBytes(6).toString('hex')}`
}

/** Reports whether a fork is a trial. Those are not listed. */
export function isTrialName(name: string): boolean {
  return TRIAL_NAME.test(name)
}
