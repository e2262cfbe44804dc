import { fstatSync } from 'node:fs'
import { receiveEvent } from './receive-event.ts'

/**
 * Records an event if the arguments are those that `coppice hooks install` writes. Returns whether they are. It is a
 * bundle of its own, since an agent waits for it many times a minute.
 */
export async function receiveHook(args: readonly string[]): Promise<boolean> {
  const [first, agent = '-', option, home, ...rest] = args
  const isComplete = option === undefined || (option === '--home' && home !== undefined && rest.length === 0)
  // A person at a terminal gets the help of the command.
  if (first !== 'hook' || agent.startsWith('-') || !isComplete || fstatSync(0).isCharacterDevice())
    return false
  await receiveEvent(agent, home)
  return true
}
