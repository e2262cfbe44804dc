import { expect, it } from 'vitest'
import { PostgresChanges } from './postgres-changes.ts'

type Answer = PromiseWithResolvers<string[][]>

/** A database whose answers the test gives. */
function database(): { readonly answers: Answer[]; readonly readRows: () => Promise<string[][]> } {
  const answers: Answer[] = []
  const readRows = () => {
    const answer = Promise.withResolvers<string[][]>()
    answers.push(answer)
    return answer.promise
  }
  return { answers, readRows }
}

const isSent = (answers: readonly Answer[], count: number) =>
  expect.poll(() => answers.length, { interval: 1 }).toBe(count)

it('reads again after an expiry, also if an older read was on its way', async () => {
  const { answers, readRows } = database()
  const changes = new PostgresChanges(readRows, 'notified')
  const first = changes.read(1, () => {})
  await isSent(answers, 1)
  changes.expire()
  answers[0]?.resolve([['1:1:']])
  const before = await first
  const second = changes.read(1, () => {})
  await isSent(answers, 2)
  answers[1]?.resolve([['2:2:']])
  expect(await second).not.toBe(before)
})

it('asks for hints once a count is too old, and never if every read asks the database', async () => {
  const asked: string[] = []
  for (const freshness of ['strict', 'notified'] as const) {
    const changes = new PostgresChanges(async () => [['1:1:']], freshness)
    for (let reads = 0; reads < 3; reads++) {
      await changes.read(1, () => asked.push(freshness))
      changes.expire()
    }
  }
  expect(asked).toEqual(['notified', 'notified'])
})
