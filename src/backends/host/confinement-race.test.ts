import * as host from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isVfsError, readText } from '../../vfs/index.ts'
import { HostFs } from './index.ts'

const SWAPS = 4_000
const DONE = 0

/**
 * Runs beside the test and swaps, again and again, a directory and a file of the root for links that lead out.
 * It makes good what the test removes or puts in their place.
 */
const swapper = `
const fs = require('node:fs')
const { join } = require('node:path')
const { workerData: { root, outside, swaps, state } } = require('node:worker_threads')
const tolerate = (act) => { try { act() } catch {} }
const swap = (name, target, remake) => {
  const [path, kept] = [join(root, name), join(root, name + '.kept')]
  tolerate(() => fs.renameSync(path, kept))
  tolerate(() => fs.symlinkSync(target, path))
  tolerate(() => fs.lstatSync(path).isSymbolicLink() && fs.unlinkSync(path))
  tolerate(() => fs.renameSync(kept, path))
  remake(path)
}
const remakeFile = (path) => tolerate(() => fs.writeFileSync(path, 'inside', { flag: 'wx' }))
const remakeDirectory = (path) => {
  tolerate(() => fs.mkdirSync(join(path, 'sub'), { recursive: true }))
  remakeFile(join(path, 'secret'))
  remakeFile(join(path, 'sub', 'secret'))
}
for (let count = 0; count < swaps; count++) {
  swap('d', outside, remakeDirectory)
  swap('f', join(outside, 'secret'), remakeFile)
}
Atomics.store(state, 0, 1)
`

let scratch: string
let root: string
let outside: string
let fs: HostFs

beforeEach(() => {
  scratch = host.mkdtempSync(join(host.realpathSync(tmpdir()), 'host-race-'))
  root = join(scratch, 'root')
  outside = join(scratch, 'outside')
  host.mkdirSync(join(root, 'd/sub'), { recursive: true })
  host.mkdirSync(join(outside, 'sub'), { recursive: true })
  for (const path of [join(root, 'f'), join(root, 'd/secret'), join(root, 'd/sub/secret')]) {
    host.writeFileSync(path, 'inside')
  }
  for (const path of ['secret', 'sub/secret', 'only-outside', 'sub/only-outside']) {
    host.writeFileSync(join(outside, path), 'SECRET')
  }
  fs = new HostFs(root, { confinement: 'handles' })
})

afterEach(async () => {
  await fs.close()
  host.rmSync(scratch, { recursive: true, force: true })
})

function outsideNow(): unknown {
  return host.readdirSync(outside, { recursive: true, encoding: 'utf8' }).map((path) => {
    const stat = host.lstatSync(join(outside, path))
    return [path, stat.mode, stat.ino, stat.isFile() ? host.readFileSync(join(outside, path), 'utf8') : null]
  })
}

/** Repeats the acts until the swapper is through. What fails must fail in the protocol's words. */
async function whileSwapping(acts: readonly (() => Promise<void>)[]): Promise<void> {
  const before = outsideNow()
  const state = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(swapper, { eval: true, workerData: { root, outside, swaps: SWAPS, state } })
  const ended = new Promise((resolve, reject) => worker.once('exit', resolve).once('error', reject))
  while (Atomics.load(state, DONE) === 0) {
    for (const act of acts) await act().catch(expectProtocolError)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(await ended).toBe(0)
  expect(outsideNow()).toEqual(before)
}

function expectProtocolError(error: unknown): void {
  if (!isVfsError(error) || error.code === 'EIO' || error.code === 'EBADF') throw error
}

async function expectInside(path: string): Promise<void> {
  expect(['inside', 'written', '']).toContain(await readText(fs, path))
}

async function expectNoneOutside(source: AsyncIterable<{ name: string } | { path: string }>): Promise<void> {
  for await (const entry of source) expect(JSON.stringify(entry)).not.toContain('only-outside')
}

describe.runIf(process.platform === 'linux')(
  'while directories and files are swapped for links that lead out',
  () => {
    it('nothing outside is read, described or listed', async () => {
      await whileSwapping([
        () => expectInside('/f'),
        () => expectInside('/d/secret'),
        () => expectInside('/d/sub/secret'),
        () => expectNoneOutside(fs.readdir('/d')),
        () => expectNoneOutside(fs.readdir('/d/sub')),
        () => expectNoneOutside(fs.walk('/')),
        async () => expect(await fs.exists('/d/only-outside')).toBe(false),
        async () =>
          expect(await fs.stat('/d/sub/only-outside').then(() => true, expectProtocolError)).toBe(undefined),
      ])
    })

    it('nothing outside is written', async () => {
      await whileSwapping([
        () => fs.write('/f', 'written'),
        () => fs.write('/d/secret', 'written'),
        () => fs.write('/d/sub/new', 'written', { parents: false }),
        () => fs.append('/f', ''),
        () => fs.append('/d/secret', ''),
        () => fs.mkdir('/d/sub/made', { mode: 0o700 }),
        () => fs.symlink('x', '/d/link'),
        () => fs.rename('/d/link', '/d/sub/link', { overwrite: true }),
        () => fs.rename('/d/only-outside', '/stolen'),
        () => fs.setattr('/f', { mode: 0o666, mtime: new Date(0) }),
        () => fs.setattr('/d/secret', { mode: 0o666, mtime: new Date(0) }),
        () => fs.setattr('/d', { mode: 0o777 }),
        () => fs.link('/d/only-outside', '/stolen'),
        () => fs.link('/f', '/d/sub/linked'),
        () => expectInside('/d/secret'),
      ])
      expect(host.existsSync(join(root, 'stolen'))).toBe(false)
    })

    it('nothing outside is removed', async () => {
      await whileSwapping([
        () => fs.remove('/d/sub/secret'),
        () => fs.remove('/d/only-outside'),
        () => fs.remove('/d/sub', { recursive: true }),
        () => fs.remove('/d', { recursive: true }),
        () => fs.remove('/d.kept', { recursive: true }),
      ])
    })
  },
)
