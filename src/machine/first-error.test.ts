import { expect, it } from 'vitest'
import { firstError } from './index.ts'

it('finds the error that made closing begin, and not those of closing', () => {
  const first = new Error('the disk is full')
  const closeInTurn = () => {
    using _one = { [Symbol.dispose]: () => fail('closing one') }
    using _two = { [Symbol.dispose]: () => fail('closing two') }
    throw first
  }
  let caught: unknown
  try {
    closeInTurn()
  } catch (error) {
    caught = error
  }
  expect(caught).not.toBe(first)
  expect(firstError(caught)).toBe(first)
})

function fail(message: string): never {
  throw new Error(message)
}
