import { expect, it } from 'vitest'
import { Home } from '../src/backends/vault/index.ts'
import { type Batch, MemoryEngine, StoreHome } from '../src/store/index.ts'
import { tapEngine } from './support/tap-engine.ts'

const FILE_BYTES = 300_000

it('truncating a file frees space, wherever the cut is, and overwriting does not', async () => {
  const frees: (boolean | undefined)[] = []
  const engine = tapEngine(new MemoryEngine(), {
    before: (call, [batch]) => {
      if (call === 'commit' && isChange(batch)) frees.push(batch.frees)
    },
  })
  await using home = new Home(new StoreHome(engine))
  const vault = await home.createVault('v')
  await vault.write('/f', new Uint8Array(FILE_BYTES).fill(1))
  await using file = await vault.open('/f', { write: true })
  const freeing = async (change: () => Promise<unknown>) => {
    frees.length = 0
    await change()
    return frees
  }
  expect(await freeing(() => file.write(1000, Buffer.from('more')))).toEqual([false])
  expect(await freeing(() => file.write(FILE_BYTES, new Uint8Array(1000)))).toEqual([false])
  for (const size of [200_001, 131_072, 70_000, 100, 0])
    expect(await freeing(() => file.truncate(size)), `${size}`).toEqual([true])
  expect(await freeing(() => file.write(0, Buffer.from('again')))).toEqual([false])
})

function isChange(batch: unknown): batch is Batch {
  return typeof batch === 'object' && batch !== null && 'journal' in batch
}
