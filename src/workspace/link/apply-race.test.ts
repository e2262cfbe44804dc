import * as host from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect, it, onTestFinished } from 'vitest'
import { openHome } from '../../backends/vault/index.ts'
import { isVfsError } from '../../vfs/index.ts'
import type { SessionChange } from '../session/index.ts'
import { LinkedDirectory } from './index.ts'

const ROUNDS = 40
const FILES = 30

/**
 * Runs in parallel to the test: repeatedly replaces directories and a file of the project by links that lead out,
 * while an apply writes.
 */
const swapper = `
const fs = require('node:fs')
const { join } = require('node:path')
const { workerData: { project, outside, state } } = require('node:worker_threads')
const tolerate = (act) => { try { act() } catch {} }
const swap = (name, target) => {
  const [path, kept] = [join(project, name), join(project, name + '.kept')]
  tolerate(() => fs.renameSync(path, kept))
  tolerate(() => fs.symlinkSync(target, path))
  tolerate(() => fs.lstatSync(path).isSymbolicLink() && fs.unlinkSync(path))
  tolerate(() => fs.renameSync(kept, path))
}
while (Atomics.load(state, 0) === 0) {
  const stages = fs.readdirSync(project).filter((name) => name.startsWith('.coppice-apply-'))
  if (stages.length === 0) continue
  swap('d', outside)
  swap('d/sub', outside)
  swap('f', join(outside, 'f0'))
  // The stage of an apply can be renamed by the attacker, too.
  for (const name of stages) swap(name, outside)
}
`

function put(upper: string, path: string, make: (place: string) => void): SessionChange {
  const place = join(upper, path)
  make(place)
  const { mode, mtimeNs, uid, gid } = host.lstatSync(place, { bigint: true })
  const type = host.lstatSync(place).isDirectory() ? 'directory' : 'file'
  const owner = { uid: Number(uid), gid: Number(gid) }
  return { kind: 'put', path, type, host: place, mode: Number(mode), mtimeNs, ...owner }
}

function contentOf(directory: string): unknown {
  return host.readdirSync(directory, { recursive: true, encoding: 'utf8' }).map((path) => {
    const place = join(directory, path)
    const stats = host.lstatSync(place)
    return [path, stats.mode, stats.ino, stats.isFile() ? host.readFileSync(place, 'utf8') : null]
  })
}

it.runIf(process.platform === 'linux')(
  'an apply and its undo change nothing outside while directories are replaced by links',
  async () => {
    const scratch = host.realpathSync(host.mkdtempSync(join(tmpdir(), 'coppice-race-')))
    onTestFinished(() => host.rmSync(scratch, { recursive: true, force: true }))
    const [project, upper, outside] = ['project', 'upper', 'outside'].map((name) => join(scratch, name))
    if (project === undefined || upper === undefined || outside === undefined) throw new Error('no paths')
    for (const path of [upper, project, outside]) host.mkdirSync(join(path, 'd/sub'), { recursive: true })
    for (let index = 0; index < FILES; index++) {
      for (const folder of ['d', 'd/sub']) host.writeFileSync(join(project, folder, `f${index}`), 'mine')
      // Outside, the files have the same names, and only their location differs.
      for (const folder of ['.', 'sub', 'new', 'old']) {
        host.mkdirSync(join(outside, folder), { recursive: true })
        host.writeFileSync(join(outside, folder, `f${index}`), 'mine')
      }
    }
    host.writeFileSync(join(project, 'f'), 'mine')
    const home = await openHome()
    onTestFinished(() => home.close())
    const link = new LinkedDirectory(home, project)
    const changes = Array.from({ length: FILES }, (_, index) => [
      put(upper, `/d/f${index}`, (place) => host.writeFileSync(place, 'theirs')),
      put(upper, `/d/new${index}`, (place) => host.writeFileSync(place, 'new')),
      put(upper, `/d/sub/f${index}`, (place) => host.writeFileSync(place, 'mine', { mode: 0o755 })),
      put(upper, `/d/sub/made${index}`, (place) => host.mkdirSync(place)),
    ]).flat()
    const gone: SessionChange = { kind: 'gone', path: '/f' }
    const since = BigInt(Date.now() + 60_000) * 1_000_000n
    const fork = await link.collect({ changes: [...changes, gone], since })
    if (fork === undefined) throw new Error('nothing was kept')

    const before = contentOf(outside)
    const state = new Int32Array(new SharedArrayBuffer(4))
    const worker = new Worker(swapper, { eval: true, workerData: { project, outside, state } })
    const ended = new Promise((resolve, reject) => worker.once('exit', resolve).once('error', reject))
    const failures = new Set<string>()
    for (let round = 0; round < ROUNDS; round++) {
      for (const act of ['apply', 'undo'] as const) {
        await link[act](fork).catch((error: unknown) => {
          if (!isVfsError(error) || error.code === 'EINTERNAL') throw error
          failures.add(error.code)
        })
        await link.recover()
      }
    }
    Atomics.store(state, 0, 1)
    expect(await ended).toBe(0)
    expect(contentOf(outside)).toEqual(before)
    expect([...failures]).not.toEqual([])
    await link.recover()
    expect(await link.recover()).toEqual([])
  },
)
