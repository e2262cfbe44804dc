import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { openHome } from './index.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-place-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

describe('the directory of a home', () => {
  it('is created with its parents, also by several processes at once', async () => {
    const path = join(scratch, 'a/b/c')
    const homes = await Promise.all([openHome({ path }), openHome({ path })])
    expect(statSync(path).isDirectory()).toBe(true)
    for (const home of homes) await home.close()
  })

  it('is rejected if the path is taken or cannot be created', async () => {
    writeFileSync(join(scratch, 'file'), '')
    await expect(openHome({ path: join(scratch, 'file') })).rejects.toMatchObject({ code: 'EEXIST' })
    await expect(openHome({ path: join(scratch, 'file/below') })).rejects.toMatchObject({
      code: expect.stringMatching(/^(EEXIST|ENOTDIR)$/),
    })
    await expect(openHome({ path: '/proc/none/home' })).rejects.toMatchObject({ code: expect.any(String) })
  })
})
