import { expect, it } from 'vitest'
import { PostgresIncarnations } from './postgres-incarnations.ts'

/** A database with an incarnation that the test changes. */
function database() {
  const state = { number: 1, asked: 0 }
  const read = async () => {
    state.asked++
    return [[state.number]]
  }
  return { state, connection: { address: { schema: 's' }, read } }
}

it('notices a second crash', async () => {
  const { state, connection } = database()
  const incarnations = new PostgresIncarnations(connection, '1')
  incarnations.note(7)
  state.number = 2
  incarnations.forget(7)
  await incarnations.note(7)
  state.number = 3
  expect(await incarnations.get(7)).toBe('2')
  incarnations.forget(7)
  expect(await incarnations.get(7)).toBe('3')
  expect(state.asked).toBe(2)
})

it('does not take an answer from before another crash as the current one', async () => {
  const { state, connection } = database()
  const incarnations = new PostgresIncarnations(connection, '1')
  incarnations.forget(7)
  const noted = incarnations.note(7)
  state.number = 2
  incarnations.forget(8)
  await noted
  expect(await incarnations.get(7)).toBe('1')
  expect(await incarnations.get(8)).toBe('2')
})

it('asks for nothing where the role may only read', async () => {
  const { state, connection } = database()
  const incarnations = new PostgresIncarnations(connection, undefined)
  expect(incarnations.note(7)).toBeUndefined()
  expect(state.asked).toBe(0)
})
