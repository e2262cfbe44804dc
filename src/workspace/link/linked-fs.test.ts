import { tracingChannel } from 'node:diagnostics_channel'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { HostFs } from '../../backends/host/index.ts'
import { openHome } from '../../backends/vault/index.ts'
import { fileSystemSuite, type Seed } from '../../conformance/index.ts'
import { Mutex } from '../../machine/index.ts'
import { type CallContext, move, readText, type VfsEvent, vfsOperations } from '../../vfs/index.ts'
import { LinkedDirectory, type LinkedFork, LinkedFs } from './index.ts'
import type { MaskContent } from './masked-host-tree.ts'

const encoder = new TextEncoder()

const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'coppice-linked-fs-')))
const home = await openHome()
afterAll(async () => {
  await home.close()
  rmSync(scratch, { recursive: true, force: true })
})

interface Opened {
  readonly directory: string
  readonly link: LinkedDirectory
  readonly fork: LinkedFork
  readonly fs: LinkedFs
}

/** Opens a new fork of a directory with these files. */
async function open(seed: Seed = {}, mask?: MaskContent): Promise<Opened> {
  const directory = mkdtempSync(join(scratch, 'root-'))
  for (const [path, content] of Object.entries(seed)) {
    mkdirSync(dirname(directory + path), { recursive: true })
    writeFileSync(directory + path, content)
    // In whole milliseconds: a file system of this machine rounds them, a vault cuts them.
    utimesSync(directory + path, 1_700_000_000, 1_700_000_000)
  }
  const link = new LinkedDirectory(home, directory)
  const fork = await link.startFork('fork')
  const vault = await home.vault(fork.name)
  const fs = new LinkedFs({
    link,
    fork,
    vault,
    directory: new HostFs(directory),
    mutex: new Mutex(),
    ...(mask !== undefined && { mask: async () => mask }),
  })
  return { directory, link, fork, fs }
}

fileSystemSuite(
  { describe, it },
  { name: 'a fork of a directory', create: async (seed) => (await open(seed)).fs, runs: 5 },
)

fileSystemSuite(
  { describe, it },
  { name: 'a fork of an empty directory', create: async () => (await open()).fs, runs: 5 },
)

describe('the files of a fork', () => {
  const seed = { '/a.txt': 'a\n', '/d/x': 'x\n', '/d/y': 'y\n', '/e/deep/z': 'z\n' }

  it('show the directory as it is, where the fork has changed nothing', async () => {
    const { directory, fs } = await open(seed)
    await fs.write('/d/x', 'changed\n')
    writeFileSync(join(directory, 'a.txt'), 'by the user\n')
    writeFileSync(join(directory, 'd/new'), 'by the user\n')
    writeFileSync(join(directory, 'd/x'), 'by the user\n')
    rmSync(join(directory, 'd/y'))
    expect(await readText(fs, '/a.txt')).toBe('by the user\n')
    expect(await readText(fs, '/d/x')).toBe('changed\n')
    expect(await listNames(fs, '/d')).toEqual(['new', 'x'])
    expect(await listAll(fs)).toEqual(['/a.txt', '/d/new', '/d/x', '/e/deep/z'])
  })

  it('keep changes below a directory that the user removed', async () => {
    const { directory, link, fork, fs } = await open(seed)
    await fs.write('/e/deep/more', 'kept\n')
    rmSync(join(directory, 'e'), { recursive: true })
    expect(await listNames(fs, '/')).toEqual(['a.txt', 'd', 'e'])
    expect(await listAll(fs)).toEqual(['/a.txt', '/d/x', '/d/y', '/e/deep/more'])
    await fs.write('/e/deep/more', 'again\n')
    expect(await listChanged(link, fork)).toEqual(['/e/deep/more'])
  })

  it('hide what the user adds to a directory that the fork removed or replaced', async () => {
    const { directory, link, fork, fs } = await open(seed)
    await fs.remove('/d', { recursive: true })
    await fs.remove('/e', { recursive: true })
    await fs.write('/e', 'a file\n')
    writeFileSync(join(directory, 'd/new'), 'by the user\n')
    writeFileSync(join(directory, 'e/new'), 'by the user\n')
    expect(await listAll(fs)).toEqual(['/a.txt', '/e'])
    await expect(fs.stat('/d/new')).rejects.toMatchObject({ code: 'ENOENT' })
    await fs.write('/d/new', 'by the fork\n')
    const changes = await link.listChanges(fork)
    // Its base is not what the user wrote meanwhile, so that apply reports the conflict.
    expect(changes.find(({ path }) => path === '/d/new')?.before).toBeUndefined()
    await expect(link.apply(fork)).rejects.toMatchObject({ code: 'ECONFLICT' })
  })

  it('have no change where one was taken back', async () => {
    const { link, fork, fs } = await open(seed)
    await fs.write('/a.txt', 'changed\n')
    await move(fs, '/d', '/moved')
    expect(await listAll(fs)).toEqual(['/a.txt', '/e/deep/z', '/moved/x', '/moved/y'])
    await move(fs, '/moved', '/d')
    await fs.write('/a.txt', 'a\n')
    expect(await link.listChanges(fork)).toEqual([])
    expect(await link.dropIfUnused(fork)).toBe(true)
  })

  it('follow links inside of the directory, and no others', async () => {
    const { directory, fs } = await open(seed)
    symlinkSync('d', join(directory, 'inside'))
    symlinkSync(join(directory, 'd'), join(directory, 'absolute'))
    symlinkSync('/etc', join(directory, 'outside'))
    symlinkSync('../../../etc', join(directory, 'above'))
    await fs.write('/inside/x', 'changed\n')
    for (const path of ['/d/x', '/inside/x', '/absolute/x'])
      expect(await readText(fs, path)).toBe('changed\n')
    for (const path of ['/outside/passwd', '/above/passwd'])
      for (const attempt of [() => readText(fs, path), () => fs.write(path, 'x')])
        await expect(attempt()).rejects.toMatchObject({ code: 'EACCES' })
    await fs.symlink('/etc', '/own')
    await expect(readText(fs, '/own/passwd')).rejects.toMatchObject({ code: 'EACCES' })
  })

  it('follow a link that the user puts above a change', async () => {
    const { directory, fs } = await open(seed)
    await fs.write('/e/deep/more', 'by the fork\n')
    rmSync(join(directory, 'e'), { recursive: true })
    mkdirSync(join(directory, 'f/deep'), { recursive: true })
    writeFileSync(join(directory, 'f/deep/z'), 'by the user\n')
    symlinkSync('f', join(directory, 'e'))
    expect(await readText(fs, '/e/deep/z')).toBe('by the user\n')
    expect(await listNames(fs, '/e/deep')).toEqual(['z'])
  })

  it('are masked by the name of the file, not by that of a link to it', async () => {
    const mask: MaskContent = (path, content) =>
      path.endsWith('.env') ? encoder.encode(`masked ${content().length} bytes`) : undefined
    const { directory, fs } = await open({ '/.env': 'KEY=value\n', '/d/plain': 'plain\n' }, mask)
    symlinkSync('d/plain', join(directory, 'link.env'))
    symlinkSync('.env', join(directory, 'link'))
    symlinkSync('d', join(directory, 'sub'))
    writeFileSync(join(directory, 'd/.env'), 'K=v\n')
    const read = (path: string) => readText(fs, path)
    expect(await read('/.env')).toBe('masked 10 bytes')
    expect(await read('/link')).toBe('masked 10 bytes')
    expect(await read('/sub/.env')).toBe('masked 4 bytes')
    expect(await read('/link.env')).toBe('plain\n')
    for (const path of ['/link.env', '/sub/.env'])
      await expect(readText(fs, path, {}, { links: 'refuse' })).rejects.toMatchObject({ code: 'ELOOP' })
  })

  it('are taken back to a checkpoint, and copied as they are', async () => {
    const { directory, link, fork, fs } = await open(seed)
    await fs.write('/a.txt', 'first\n')
    await link.checkpoint(fork, 'then')
    await fs.write('/a.txt', 'second\n')
    await fs.remove('/d', { recursive: true })
    const copy = await link.startFork('copy', { fork })
    const past = await link.startFork('past', { fork, at: 'then' })
    expect(await listChanged(link, copy)).toEqual(['/a.txt', '/d', '/d/x', '/d/y'])
    expect(await listChanged(link, past)).toEqual(['/a.txt'])
    await link.restore(fork, 'then')
    expect(await readText(fs, '/a.txt')).toBe('first\n')
    expect(await listNames(fs, '/d')).toEqual(['x', 'y'])
    await link.apply(fork)
    expect(readFileSync(join(directory, 'a.txt'), 'utf8')).toBe('first\n')
    await link.undo(fork)
    expect(readFileSync(join(directory, 'a.txt'), 'utf8')).toBe('a\n')
  })

  it('emit one event for each operation, whatever runs below', async () => {
    const { fs } = await open({ ...seed, '/d/deep/z': 'z\n' })
    await fs.symlink('d', '/link')
    const calls: Readonly<Record<string, (ctx: CallContext | undefined) => Promise<unknown>>> = {
      write: (ctx) => fs.write('/link/new', 'new\n', { ifMatch: null }, ctx),
      append: (ctx) => fs.append('/link/new', 'more\n', ctx),
      setattr: (ctx) => fs.setattr('/link/new', { mode: 0o600 }, ctx),
      rename: (ctx) => fs.rename('/link/new', '/link/newer', {}, ctx),
      mkdir: (ctx) => fs.mkdir('/link/sub', {}, ctx),
      symlink: (ctx) => fs.symlink('x', '/link/to-x', ctx),
      readlink: (ctx) => fs.readlink('/link/to-x', ctx),
      realpath: (ctx) => fs.realpath('/link/to-x', { followLast: true }, ctx),
      stat: (ctx) => fs.stat('/link/x', ctx),
      readdir: (ctx) => Array.fromAsync(fs.readdir('/link', ctx)),
      walk: (ctx) => Array.fromAsync(fs.walk('/', {}, ctx)),
      search: (ctx) => Array.fromAsync(fs.search('/', { pattern: 'z' }, ctx)),
      read: (ctx) => readText(fs, '/link/x', {}, ctx),
      remove: (ctx) => fs.remove('/link/newer', {}, ctx),
    }
    const heard: string[] = []
    const note = (event: unknown) => {
      if (isVfsEvent(event)) heard.push(event.op)
    }
    for (const op of vfsOperations) tracingChannel(`coppice:vfs:${op}`).start.subscribe(note)
    try {
      for (const call of Object.values(calls)) await call({ trace: 'trace' })
    } finally {
      for (const op of vfsOperations) tracingChannel(`coppice:vfs:${op}`).start.unsubscribe(note)
    }
    expect(heard).toEqual(Object.keys(calls))
  })

  it('belong to a fork that is listed once it is used', async () => {
    const { link, fork, fs } = await open(seed)
    expect(await link.listForks()).toEqual([])
    await fs.write('/new', 'new\n')
    expect((await link.listForks()).map(({ name }) => name)).toEqual([fork.name])
  })
})

function isVfsEvent(event: unknown): event is VfsEvent {
  return typeof event === 'object' && event !== null && 'op' in event
}

async function listNames(fs: LinkedFs, path: string): Promise<string[]> {
  return (await Array.fromAsync(fs.readdir(path))).map(({ name }) => name)
}

async function listAll(fs: LinkedFs): Promise<string[]> {
  return (await Array.fromAsync(fs.walk('/'))).map(({ path }) => path)
}

async function listChanged(link: LinkedDirectory, fork: LinkedFork): Promise<string[]> {
  return (await link.listChanges(fork)).map(({ path }) => path)
}
