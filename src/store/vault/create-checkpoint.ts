import { randomBytes } from 'node:crypto'
import type { Checkpoint, Checkpoints } from './checkpoints.ts'
import type { VaultLog } from './vault-log.ts'

/**
 * Takes a durable checkpoint of a vault: O(1), whatever it holds. Throws EINVAL if the name is invalid, EEXIST if
 * it is taken.
 */
export async function createCheckpoint(
  log: VaultLog,
  checkpoints: Checkpoints,
  name?: string,
  about: Partial<Pick<Checkpoint, 'description' | 'uid' | 'meta'>> = {},
): Promise<Checkpoint> {
  const time = Date.now()
  let called = name ?? ''
  const uid = randomBytes(16).toString('hex')
  const taken: Checkpoint[] = []
  await log.flushPages({
    durable: true,
    isCheckpoint: true,
    check: () => {
      // Chosen at each attempt: if another process takes the name, the commit is refused and retried.
      if (name === undefined) called = checkpoints.createDefaultName(time)
      else checkpoints.assertFree(name)
    },
    records: ({ root, seq, checkpoints: order = 0 }) => {
      const checkpoint = { uid, ...about, name: called, root, seq, order, time }
      taken.push(checkpoint)
      return [checkpoints.toRecord(checkpoint)]
    },
  })
  const checkpoint = taken.at(-1)
  if (checkpoint === undefined) throw new Error('a successful flush has created its records')
  return checkpoint
}
