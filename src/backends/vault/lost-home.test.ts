import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readText } from '../../vfs/index.ts'
import { openHome } from './index.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-lost-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

describe.each(['sqlite', 'lmdb', 'level'] as const)('a home on %s whose files are gone', (engine) => {
  it('throws at the next change', async () => {
    const path = join(scratch, `removed-${engine}`)
    const home = await openHome({ path, engine })
    const vault = await home.createVault('base')
    await vault.write('/kept', 'x')
    rmSync(path, { recursive: true })
    const lost = { code: 'EIO', message: expect.stringContaining('was removed while it was open') }
    await expect(vault.write('/lost', 'x')).rejects.toMatchObject(lost)
    await expect(home.createVault('other')).rejects.toMatchObject(lost)
    expect(await vault.exists('/lost')).toBe(false)
    expect(await vault.exists('/kept')).toBe(true)
    // There is something to store, and nowhere to store it.
    await expect(home.close()).rejects.toMatchObject(lost)
  })

  // LevelDB refuses the path to a second home of the same process, whatever became of the first.
  it.skipIf(engine === 'level')('does not damage another home at the same path', async () => {
    const path = join(scratch, `replaced-${engine}`)
    const old = await openHome({ path, engine })
    const lost = await old.createVault('base')
    rmSync(path, { recursive: true })
    const home = await openHome({ path, engine })
    const vault = await home.createVault('base')
    await expect(lost.write('/f', 'old')).rejects.toMatchObject({
      code: 'EIO',
      message: expect.stringContaining('was replaced'),
    })
    await vault.write('/f', 'new')
    await old.close()
    expect(await home.fsck()).toMatchObject({ damaged: [] })
    await home.close()
    const again = await openHome({ path, engine })
    expect(await readText(await again.vault('base'), '/f')).toBe('new')
    await again.close()
  })
})
