import { expect, it } from 'vitest'
import { createRandomBytes, createRandomId } from './random-bytes.ts'

it('returns as many bytes as wanted, never the same', () => {
  const all = Array.from({ length: 100 }, () => createRandomBytes(5000))
  expect(all.map((bytes) => bytes.length)).toEqual(all.map(() => 5000))
  expect(new Set(all.map((bytes) => bytes.toString('hex'))).size).toBe(all.length)
  expect(new Set(Buffer.concat(all)).size).toBe(256)
})

it('creates ids in the form of a UUID', () => {
  const ids = Array.from({ length: 1000 }, createRandomId)
  for (const id of ids)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(new Set(ids).size).toBe(ids.length)
})
