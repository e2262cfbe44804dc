import { expect, it } from 'vitest'
import { CleanupStack } from './cleanup-stack.ts'

it('cleans up in reverse, all of it, and throws the first failure', async () => {
  const calls: string[] = []
  const stack = new CleanupStack()
  stack.use({ [Symbol.dispose]: () => void calls.push('first') })
  stack.defer(() => {
    throw new Error('later')
  })
  stack.use({ [Symbol.asyncDispose]: async () => Promise.reject(new Error('sooner')) })
  stack.defer(() => calls.push('last'))
  await expect(stack.close()).rejects.toThrow('sooner')
  expect(calls).toEqual(['last', 'first'])
  await stack.close()
  expect(calls).toHaveLength(2)
})

it('cleans up once what was moved', async () => {
  const calls: string[] = []
  const stack = new CleanupStack()
  stack.defer(() => calls.push('moved'))
  const moved = stack.move()
  await stack.close()
  expect(calls).toEqual([])
  await moved.close()
  expect(calls).toEqual(['moved'])
})
