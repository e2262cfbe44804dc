import { randomBytes } from 'node:crypto'

const TRIAL_NAME = /^trial-[0-9a-f]{12}$/

/** Creates the name of a throw-away fork. */
export function createTrialName(): string {
  return `trial-${randomBytes(6).toString('hex')}`
}

/** Reports whether a fork was made to try a command. It is not listed. */
export function isTrialName(name: string): boolean {
  return TRIAL_NAME.test(name)
}
