import { expect, it } from 'vitest'
import { PostgresOutcomes } from './postgres-outcomes.ts'

const address = { schema: 's' }

it('keeps a commit whose rows were pruned from the reads of others', async () => {
  const outcomes = new PostgresOutcomes({ address, read: async () => [[null]] })
  const settled = expect(outcomes.settle('1', undefined)).rejects.toMatchObject({ code: 'EUNKNOWN' })
  await outcomes.settleAll()
  await settled
  expect(outcomes.areSettled).toBe(true)
})

it('reads nothing before the database can be asked', async () => {
  let isDown = true
  const read = async () => {
    if (isDown) throw new Error('down')
    return [[true]]
  }
  const outcomes = new PostgresOutcomes({ address, read })
  await expect(outcomes.settle('1', undefined)).rejects.toThrow('down')
  await expect(outcomes.settleAll()).rejects.toThrow('down')
  isDown = false
  await outcomes.settleAll()
  expect(outcomes.areSettled).toBe(true)
})
