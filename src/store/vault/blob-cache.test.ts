import { expect, it } from 'vitest'
import { BlobCache } from './blob-cache.ts'

it('holds the end of a large file without the rest of it', () => {
  const file = new Uint8Array(10_000_000).fill(7)
  const cache = new BlobCache()
  cache.put(1, file.subarray(-100))
  cache.put(2, file.subarray(-20_000))
  const [small, larger] = [cache.get(1), cache.get(2)]
  expect(small).toEqual(file.slice(-100))
  expect(larger).toEqual(file.slice(-20_000))
  expect(small?.buffer.byteLength).toBeLessThan(100_000)
  expect(larger?.buffer.byteLength).toBe(20_000)
})
