import { expect, it } from 'vitest'
import { MemoryEngine, StoreHome } from '../../store/index.ts'
import { SnapshotFs } from './snapshot-fs.ts'

it('rejects every change of a snapshot with EROFS, also without a read-only wrapper', async () => {
  const home = new StoreHome(new MemoryEngine())
  const log = await home.createVault('main')
  const root = await log.flushPages()
  const fs = new SnapshotFs(home, log, () => root)
  const refused = expect.objectContaining({ code: 'EROFS' })
  await expect(fs.write('/a', new Uint8Array(1))).rejects.toEqual(refused)
  await expect(fs.mkdir('/d')).rejects.toEqual(refused)
  expect(() => fs.sync.mkdir('/d')).toThrow(refused)
  await home.close()
})
