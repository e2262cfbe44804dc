import * as host from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readText } from '../../vfs/index.ts'
import { HostFs } from './index.ts'

let scratch: string
let root: string
let outside: string
let fs: HostFs

beforeEach(() => {
  scratch = host.mkdtempSync(join(host.realpathSync(tmpdir()), 'host-confined-'))
  root = join(scratch, 'root')
  outside = join(scratch, 'outside')
  host.mkdirSync(join(root, 'd/sub'), { recursive: true })
  host.mkdirSync(join(outside, 'sub'), { recursive: true })
  host.writeFileSync(join(root, 'd/f'), 'inside')
  host.writeFileSync(join(outside, 'secret'), 'secret')
  host.writeFileSync(join(outside, 'sub/secret'), 'secret')
})

afterEach(async () => {
  await fs.close()
  host.rmSync(scratch, { recursive: true, force: true })
})

function link(target: string, path: string): void {
  host.symlinkSync(target, join(root, path))
}

/** Everything outside the root with its content and mode. */
function outsideNow(): unknown {
  return host.readdirSync(scratch, { recursive: true, encoding: 'utf8' }).flatMap((path) => {
    if (path === 'root' || path.startsWith('root/')) return []
    const stat = host.lstatSync(join(scratch, path))
    const content = stat.isFile() ? host.readFileSync(join(scratch, path), 'utf8') : null
    return [[path, stat.mode, content]]
  })
}

const confinements = process.platform === 'linux' ? (['handles', 'paths'] as const) : (['paths'] as const)

describe.each(confinements)('by %s', (confinement) => {
  beforeEach(() => {
    fs = new HostFs(root, { confinement })
  })

  /** Each way of following a link, tried on one that leads to a directory. */
  async function expectRefused(path: string): Promise<void> {
    const before = outsideNow()
    const attempts: Record<string, () => Promise<unknown>> = {
      read: () => readText(fs, `${path}/secret`),
      list: () => Array.fromAsync(fs.readdir(path)),
      listBelow: () => Array.fromAsync(fs.readdir(`${path}/sub`)),
      stat: () => fs.stat(`${path}/secret`),
      exists: () => fs.exists(`${path}/secret`),
      write: () => fs.write(`${path}/secret`, 'changed'),
      writeNew: () => fs.write(`${path}/new`, 'new'),
      writeOver: () => fs.write(path, 'new'),
      append: () => fs.append(`${path}/secret`, 'more'),
      mkdir: () => fs.mkdir(`${path}/made/below`, { parents: true }),
      mkdirOver: () => fs.mkdir(path, { parents: true }),
      remove: () => fs.remove(`${path}/secret`),
      removeTree: () => fs.remove(`${path}/sub`, { recursive: true }),
      renameFrom: () => fs.rename(`${path}/secret`, '/stolen'),
      renameTo: () => fs.rename('/d/f', `${path}/f`),
      symlink: () => fs.symlink('x', `${path}/l`),
      readlink: () => fs.readlink(`${path}/l`),
      setattr: () => fs.setattr(`${path}/secret`, { mode: 0o777 }),
      setattrOver: () => fs.setattr(path, { mode: 0o777, mtime: new Date(0) }),
      setattrOfLink: () => fs.setattr(`${path}/secret`, { mtime: new Date(0), ofLink: true }),
      linkFrom: () => fs.link(`${path}/secret`, '/stolen'),
      linkTo: () => fs.link('/d/f', `${path}/f`),
      identity: () => fs.identity(`${path}/secret`),
    }
    for (const [name, attempt] of Object.entries(attempts)) {
      await expect(attempt(), name).rejects.toMatchObject({ code: 'EACCES' })
    }
    expect(await Array.fromAsync(fs.walk(path))).toEqual([])
    expect(outsideNow()).toEqual(before)
  }

  it('follows no absolute link that leads out', async () => {
    link(outside, 'out')
    await expectRefused('/out')
  })

  it('follows no relative link that leads out', async () => {
    link('../../outside', 'd/out')
    await expectRefused('/d/out')
  })

  it('follows no chain of links that leads out', async () => {
    link('d/second', 'first')
    link('../third', 'd/second')
    link('d/sub/../../../outside', 'third')
    await expectRefused('/first')
  })

  it('follows no link to a directory from which dots lead out', async () => {
    link('sub/../../../outside', 'd/out')
    await expectRefused('/d/out')
  })

  it('does not reveal what exists outside', async () => {
    link(join(outside, 'secret'), 'there')
    link(join(outside, 'missing'), 'missing')
    for (const path of ['/there', '/missing']) {
      await expect(readText(fs, path)).rejects.toMatchObject({ code: 'EACCES' })
      await expect(fs.write(path, 'x')).rejects.toMatchObject({ code: 'EACCES' })
    }
    expect(host.readdirSync(outside)).toEqual(['secret', 'sub'])
  })

  it('lists, moves and removes a link that leads out, as a link', async () => {
    link(outside, 'out')
    expect((await fs.stat('/out')).type).toBe('symlink')
    expect(await fs.readlink('/out')).toBe(outside)
    expect((await Array.fromAsync(fs.walk('/'))).map(({ path }) => path)).toEqual(['/d/f', '/out'])
    await fs.rename('/out', '/d/moved')
    await fs.remove('/d', { recursive: true })
    expect(host.readdirSync(root)).toEqual([])
    expect(host.readdirSync(outside)).toEqual(['secret', 'sub'])
  })

  it('follows links that stay inside, however they get there', async () => {
    link(join(root, 'd/f'), 'absolute')
    link(root, 'd/root')
    link('../../root/d/f', 'd/around')
    host.symlinkSync(join(root, 'd'), join(scratch, 'alias'))
    link(join(scratch, 'alias/f'), 'by-alias')
    for (const path of ['/absolute', '/d/root/d/root/d/f', '/d/around', '/by-alias']) {
      expect(await readText(fs, path)).toBe('inside')
    }
    await fs.write('/d/root/new/f', 'written through')
    expect(host.readFileSync(join(root, 'new/f'), 'utf8')).toBe('written through')
  })

  it('does not confuse a neighbour with a longer name with the root', async () => {
    host.mkdirSync(`${root}2`)
    host.writeFileSync(`${root}2/secret`, 'secret')
    link(`${root}2`, 'absolute')
    link('../root2', 'relative')
    await expect(readText(fs, '/absolute/secret')).rejects.toMatchObject({ code: 'EACCES' })
    await expect(readText(fs, '/relative/secret')).rejects.toMatchObject({ code: 'EACCES' })
  })

  it('throws ELOOP for a cycle of links', async () => {
    link('b', 'a')
    link('a', 'b')
    link('c/c', 'c')
    for (const path of ['/a', '/a/x', '/c']) {
      await expect(readText(fs, path)).rejects.toMatchObject({ code: 'ELOOP' })
      await expect(fs.write(path, '')).rejects.toMatchObject({ code: 'ELOOP' })
    }
  })

  it('accepts a root that is a link', async () => {
    host.symlinkSync(root, join(scratch, 'link-to-root'))
    const byLink = new HostFs(join(scratch, 'link-to-root'), { confinement })
    expect(await readText(byLink, '/d/f')).toBe('inside')
    await byLink.close()
  })
})
