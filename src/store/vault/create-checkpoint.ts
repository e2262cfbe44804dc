import { randomBytes } from 'node:crypto'
import type { Checkpoint, Checkpoints } from './checkpoints.ts'
import type { VaultLog } from './vault-log.ts'

/**
 * Takes a durable checkpoint of a vault. Takes as long as a flush, whatever the vault holds. Throws EINVAL if the name
 * is invalid, EEXIST if it is taken.
 *
 * @param name a default name by the time when absent.
 */
export async function createCheckpoint(
  log: VaultLog,
  checkpoints: Checkpoints,
  name?: string,
  properties: Partial<Pick<Checkpoint, 'description' | 'uid' | 'meta'>> = {},
): Promise<Checkpoint> {
  const time = Date.now()
  let chosenName = name ?? ''
  const uid = randomBytes(16).toString('hex')
  /** Of each attempt; the last one counts. */
  const attempts: Checkpoint[] = []
  await log.flushPages({
    durable: true,
    isCheckpoint: true,
    check: () => {
      // Chosen at each attempt: if another process takes the name, the commit is refused and retried.
      if (name === undefined) chosenName = checkpoints.createDefaultName(time)
      else checkpoints.assertFree(name)
    },
    records: ({ root, seq, checkpoints: order = 0 }) => {
      const checkpoint = { uid, ...properties, name: chosenName, root, seq, order, time }
      attempts.push(checkpoint)
      return [checkpoints.toRecord(checkpoint)]
    },
  })
  const checkpoint = attempts.at(-1)
  if (checkpoint === undefined) throw new Error('a successful flush has created its records')
  return checkpoint
}
