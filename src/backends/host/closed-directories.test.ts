import { linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { copy, list, readText } from '../../vfs/index.ts'
import { HostFs } from './index.ts'

const REFUSED = { code: 'EACCES', message: expect.stringContaining('shut') }

/** A tree with a closed directory in it, `/a/closed`, and one that is missing, `/a/later`. */
function tree(confinement: 'handles' | 'paths') {
  const root = mkdtempSync(join(tmpdir(), 'coppice-closed-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  for (const directory of ['a/closed/inner', 'b']) mkdirSync(join(root, directory), { recursive: true })
  writeFileSync(join(root, 'a/closed/inner/file'), 'secret')
  writeFileSync(join(root, 'a/open'), 'text')
  symlinkSync('a/closed', join(root, 'link'))
  linkSync(join(root, 'a/closed/inner/file'), join(root, 'b/hard'))
  linkSync(join(root, 'a/open'), join(root, 'b/other'))
  const directories = ['a/closed', 'a/later'].map((path) => join(root, path))
  const closed = { directories, reason: 'it is shut' }
  const open = (directory: string) => new HostFs(join(root, directory), { closed, confinement })
  const fs = open('.')
  onTestFinished(() => fs.close())
  return { root, fs, open }
}

describe.each(['handles', 'paths'] as const)('a closed directory, by %s', (confinement) => {
  it.skipIf(confinement === 'handles' && process.platform !== 'linux')(
    'is shut to every operation',
    async () => {
      const { fs, root } = tree(confinement)
      for (const path of ['/a/closed/inner/file', '/link/inner/file', '/b/hard']) {
        await expect(readText(fs, path), path).rejects.toMatchObject(REFUSED)
        await expect(fs.stat(path), path).rejects.toMatchObject(REFUSED)
        await expect(fs.write(path, 'x'), path).rejects.toMatchObject(REFUSED)
        await expect(fs.append(path, 'x'), path).rejects.toMatchObject(REFUSED)
        await expect(fs.setattr(path, { mode: 0o777 }), path).rejects.toMatchObject(REFUSED)
        await expect(fs.remove(path), path).rejects.toMatchObject(REFUSED)
        await expect(fs.rename(path, '/b/moved'), path).rejects.toMatchObject(REFUSED)
        await expect(fs.link(path, '/b/more'), path).rejects.toMatchObject(REFUSED)
      }
      for (const path of ['/a/closed', '/link']) {
        await expect(list(fs, path), path).rejects.toMatchObject(REFUSED)
        await expect(fs.write(`${path}/new/file`, 'x'), path).rejects.toMatchObject(REFUSED)
        await expect(fs.rename('/a/open', `${path}/open`), path).rejects.toMatchObject(REFUSED)
      }
      expect(readFileSync(join(root, 'a/closed/inner/file'), 'utf8')).toBe('secret')
      expect(await readText(fs, '/b/other')).toBe('text')
    },
  )

  it('is in no listing, walk or copy, and is not moved or removed with its parent', async () => {
    const { fs, root } = tree(confinement)
    expect((await list(fs, '/a')).map(({ name }) => name)).toEqual(['open'])
    const walked = await Array.fromAsync(fs.walk('/', { includeDirs: true }), ({ path }) => path)
    expect(walked).toEqual(['/a', '/a/open', '/b', '/b/other', '/link'])
    await copy(fs, '/a', '/copied')
    expect((await list(fs, '/copied')).map(({ name }) => name)).toEqual(['open'])
    await expect(fs.rename('/a', '/moved')).rejects.toMatchObject(REFUSED)
    await expect(fs.remove('/a', { recursive: true })).rejects.toMatchObject(REFUSED)
    await expect(fs.remove('/a/closed', { recursive: true })).rejects.toMatchObject(REFUSED)
    expect(readFileSync(join(root, 'a/closed/inner/file'), 'utf8')).toBe('secret')
    expect(readFileSync(join(root, 'a/open'), 'utf8')).toBe('text')
  })

  it('cannot be a root, and neither can a directory inside it', async () => {
    const { open } = tree(confinement)
    for (const directory of ['a/closed', 'a/closed/inner', 'link']) {
      await expect(list(open(directory), '/'), directory).rejects.toMatchObject(REFUSED)
    }
  })

  it('cannot be created if it is missing, in any letter case', async () => {
    const { fs } = tree(confinement)
    for (const path of ['/a/later', '/a/LATER']) {
      await expect(fs.mkdir(path), path).rejects.toMatchObject(REFUSED)
      await expect(fs.write(`${path}/file`, 'x'), path).rejects.toMatchObject(REFUSED)
      await expect(fs.symlink('/tmp', path), path).rejects.toMatchObject(REFUSED)
      await expect(fs.rename('/b', path), path).rejects.toMatchObject(REFUSED)
    }
    await fs.write('/b/later/file', 'x')
  })
})
