import * as host from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { HostFs } from '../../backends/host/index.ts'
import { isVfsError, readText } from '../../vfs/index.ts'
import { HostFiles } from './index.ts'

const SWAPS = 4_000

/** Runs in parallel to the test: repeatedly replaces each path by a link and back. */
const swapper = `
const fs = require('node:fs')
const { workerData: { swaps, links, state } } = require('node:worker_threads')
const tolerate = (act) => { try { act() } catch {} }
for (let count = 0; count < swaps; count++) {
  for (const [path, target] of links) {
    tolerate(() => fs.renameSync(path, path + '.kept'))
    tolerate(() => fs.symlinkSync(target, path))
    tolerate(() => fs.lstatSync(path).isSymbolicLink() && fs.unlinkSync(path))
    tolerate(() => fs.renameSync(path + '.kept', path))
  }
}
Atomics.store(state, 0, 1)
`

let scratch: string
let app: string
let outside: string

beforeEach(() => {
  scratch = host.mkdtempSync(join(host.realpathSync(tmpdir()), 'tools-race-'))
  app = join(scratch, 'app')
  outside = join(scratch, 'outside')
  for (const directory of [join(app, 'd'), join(app, 'private'), outside]) {
    host.mkdirSync(directory, { recursive: true })
    host.writeFileSync(join(directory, 'file'), directory === join(app, 'd') ? 'open' : 'SECRET')
  }
  host.writeFileSync(join(app, 'f'), 'open')
})

afterEach(() => {
  host.rmSync(scratch, { recursive: true, force: true })
})

/**
 * Repeats an action until the swapper ends; it may fail with an error of the protocol. Returns the number of
 * successes.
 */
async function whileSwapping(target: string, act: () => Promise<void>): Promise<number> {
  const state = new Int32Array(new SharedArrayBuffer(4))
  const links = [
    [join(app, 'd'), target],
    [join(app, 'f'), join(target, 'file')],
  ]
  const worker = new Worker(swapper, { eval: true, workerData: { swaps: SWAPS, links, state } })
  const ended = new Promise((resolve, reject) => worker.once('exit', resolve).once('error', reject))
  let successes = 0
  while (Atomics.load(state, 0) === 0) {
    await act().then(() => successes++, expectProtocolError)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(await ended).toBe(0)
  return successes
}

function expectProtocolError(error: unknown): void {
  if (!isVfsError(error) || error.code === 'EIO' || error.code === 'EBADF') throw error
}

function hostFiles(): HostFiles {
  const judge = (path: string) => (path.startsWith(join(app, 'private')) ? 'private' : undefined)
  return new HostFiles({
    allow: [app],
    open: (directory) => new HostFs(directory),
    hooks: { preRead: judge, preWrite: judge },
  })
}

async function readBoth(files: HostFiles): Promise<void> {
  for (const path of ['d/file', 'f']) {
    const place = await files.locate(join(app, path))
    expect(await readText(place.fs, place.path)).not.toContain('SECRET')
  }
}

async function writeBoth(files: HostFiles): Promise<void> {
  for (const path of ['d/file', 'f']) {
    const place = await files.locate(join(app, path))
    await place.fs.write(place.path, 'open', { parents: false })
  }
}

describe.runIf(process.platform === 'linux')('while files and directories are swapped for links', () => {
  it.each(['outside', 'app/private'])('nothing is read from their targets: %s', async (target) => {
    await using files = hostFiles()
    expect(await whileSwapping(join(scratch, target), () => readBoth(files))).toBeGreaterThan(0)
  })

  it.each(['outside', 'app/private'])('nothing is written to their targets: %s', async (target) => {
    await using files = hostFiles()
    expect(await whileSwapping(join(scratch, target), () => writeBoth(files))).toBeGreaterThan(0)
    expect(host.readdirSync(join(scratch, target))).toEqual(['file'])
    expect(host.readFileSync(join(scratch, target, 'file'), 'utf8')).toBe('SECRET')
  })
})
