import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type ForkOptions, type HomeOptions, openHome } from './index.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-place-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

describe('what a program without types may hand over', () => {
  it.each([
    ['a path', '/some/path', "openHome({ path: '/some/path' })"],
    ['a URL', new URL('file:///some/path'), "openHome({ path: 'file:///some/path' })"],
    ['null', null, "openHome({ path: 'null' })"],
    ['a function', openHome, 'openHome takes options'],
  ])('is rejected instead of options: %s', async (_, value: unknown, detail) => {
    await expect(openHome(value as HomeOptions)).rejects.toMatchObject({
      code: 'EINVAL',
      message: expect.stringContaining(detail),
    })
  })

  it('is rejected instead of a checkpoint to fork', async () => {
    const home = await openHome()
    await home.createVault('base')
    const at: unknown = 'before'
    await expect(home.fork('base', 'task', at as ForkOptions)).rejects.toMatchObject({
      code: 'EINVAL',
      message: expect.stringContaining("fork takes options: fork('base', 'task', { at: 'before' })"),
    })
    expect(await home.vaults()).toEqual(['base'])
  })
})

describe('the directory of a home', () => {
  it('is created with its parents, also by several processes at once', async () => {
    const path = join(scratch, 'a/b/c')
    const homes = await Promise.all([openHome({ path }), openHome({ path })])
    expect(statSync(path).isDirectory()).toBe(true)
    for (const home of homes) await home.close()
  })

  it('is rejected if the path is taken or cannot be created', async () => {
    writeFileSync(join(scratch, 'file'), '')
    for (const path of [join(scratch, 'file'), join(scratch, 'file/below')]) {
      const detail = `cannot use ${path} as a home: it is not a directory; name another`
      await expect(openHome({ path })).rejects.toMatchObject({ code: 'ENOTDIR', path, detail })
    }
    await expect(openHome({ path: '' })).rejects.toMatchObject({
      code: 'EINVAL',
      detail: expect.stringContaining('omit path for a home in memory'),
    })
    await expect(openHome({ path: '/proc/none/home' })).rejects.toMatchObject({ code: expect.any(String) })
  })

  it('is rejected if it is empty, which would be the current directory', async () => {
    await expect(openHome({ path: '' })).rejects.toMatchObject({ code: 'EINVAL', op: 'open' })
    expect(existsSync('home.json')).toBe(false)
  })

  it('is not created with mustExist', async () => {
    const path = join(scratch, 'later')
    await expect(openHome({ path, mustExist: true })).rejects.toMatchObject({ code: 'ENOENT', path })
    expect(existsSync(path)).toBe(false)
    await (await openHome({ path })).close()
    await (await openHome({ path, mustExist: true })).close()
  })
})
