/**
 * A process of its own that applies or undoes changes in directories that its user has closed. It is killed at every
 * step in turn, and the next one recovers. Prints the outcomes, and the states that are neither of the two wanted ones.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join, relative } from 'node:path'
import { type Home, openHome } from '../../src/backends/vault/index.ts'
import { LinkedDirectory, type LinkedFork } from '../../src/workspace/link/index.ts'
import type { SessionChange } from '../../src/workspace/session/index.ts'

/** Outcomes of recoveries, and states at which a kill left anything else than the whole act or nothing of it. */
export interface ClosedDirectoriesReport {
  readonly outcomes: readonly (string | undefined)[]
  readonly problems: readonly unknown[]
}

/** A tree: the mode of each directory; mode and text of each file. */
type Tree = Readonly<Record<string, { readonly mode: number; readonly text?: string }>>

const closed = { mode: 0o555 }
const file = (text: string) => ({ mode: 0o444, text })
const before: Tree = {
  mod: closed,
  'mod/edited': file('1'),
  'mod/kept': file('k'),
  'mod/removed': file('r'),
  'mod/below': closed,
  'mod/below/edited': file('1'),
  tight: closed,
  'tight/edited': file('1'),
  gone: { mode: 0o500 },
  'gone/below': closed,
  'gone/below/file': file('g'),
  opened: closed,
  'opened/edited': file('1'),
  closing: { mode: 0o755 },
  'closing/edited': file('1'),
  group: { mode: 0o2550 },
  'group/edited': file('1'),
}
const after: Tree = {
  mod: closed,
  'mod/added': file('a'),
  'mod/edited': file('2'),
  'mod/kept': file('k'),
  'mod/below': closed,
  'mod/below/edited': file('2'),
  'mod/new': closed,
  'mod/new/file': file('n'),
  tight: { mode: 0o500 },
  'tight/edited': file('2'),
  gone: file('now a file'),
  opened: { mode: 0o755 },
  'opened/edited': file('2'),
  closing: closed,
  'closing/edited': file('2'),
  group: { mode: 0o2550 },
  'group/edited': file('2'),
}

class Killed extends Error {}

const CHANGES = [
  ...['chmodSync', 'fchmodSync', 'futimesSync', 'linkSync', 'lutimesSync', 'mkdirSync', 'renameSync'],
  ...['rmSync', 'rmdirSync', 'symlinkSync', 'unlinkSync', 'writeFileSync'],
] as const

/** Runs work that can change neither files nor the home from the n-th change on, as if it were killed there. */
class Executioner {
  #left: number

  constructor(changes: number) {
    this.#left = changes
  }

  get isDone(): boolean {
    return this.#left <= 0
  }

  /** Returns the home for that work. */
  guardHome(home: Home): Home {
    return new Proxy(home, {
      get: (target, key) => {
        if (this.isDone) throw new Killed()
        const value: unknown = Reflect.get(target, key, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }

  async run(work: () => Promise<unknown>): Promise<void> {
    const real = Object.fromEntries(CHANGES.map((name) => [name, Reflect.get(fs, name)]))
    const patched = Object.entries(real).map(([name, change]) => {
      const changeOrDie = (...words: unknown[]): unknown => {
        this.#left--
        if (this.isDone) throw new Killed()
        return Reflect.apply(change, fs, words)
      }
      return [name, changeOrDie] as const
    })
    Object.assign(fs, Object.fromEntries(patched))
    syncBuiltinESMExports()
    try {
      await work()
    } catch (error) {
      if (!this.isDone) throw error
    } finally {
      Object.assign(fs, real)
      syncBuiltinESMExports()
    }
  }
}

function makeTree(directory: string, tree: Tree): void {
  for (const [path, { text }] of Object.entries(tree)) {
    if (text === undefined) fs.mkdirSync(join(directory, path), { recursive: true })
    else fs.writeFileSync(join(directory, path), text)
  }
  for (const [path, { mode }] of Object.entries(tree).reverse()) fs.chmodSync(join(directory, path), mode)
}

function readTree(directory: string): Tree {
  const entries = fs.readdirSync(directory, { recursive: true, withFileTypes: true })
  const states = entries.map((entry) => {
    const path = join(entry.parentPath, entry.name)
    const mode = fs.lstatSync(path).mode & 0o7777
    const state = entry.isDirectory() ? { mode } : { mode, text: fs.readFileSync(path, 'utf8') }
    return [relative(directory, path), state] as const
  })
  return Object.fromEntries(states)
}

function toText(tree: Tree): string {
  return JSON.stringify(Object.entries(tree).sort(([one], [other]) => (one < other ? -1 : 1)))
}

function createPut(upper: string, path: string): SessionChange {
  const host = join(upper, path)
  const stats = fs.lstatSync(host, { bigint: true })
  const { uid, gid, mode, mtimeNs } = stats
  const type = stats.isFile() ? 'file' : 'directory'
  const owner = { uid: Number(uid), gid: Number(gid) }
  return { kind: 'put', path: `/${path}`, type, host, mode: Number(mode), mtimeNs, ...owner }
}

/** Creates a directory with a fork that changes it from one tree to the other. */
async function createFork(link: LinkedDirectory, upper: string): Promise<LinkedFork> {
  makeTree(upper, after)
  const removed = Object.keys(before).filter((path) => after[path] === undefined && !path.startsWith('gone/'))
  const changes: SessionChange[] = [
    ...removed.map((path) => ({ kind: 'gone', path: `/${path}` }) as const),
    ...Object.keys(after).map((path) => createPut(upper, path)),
  ]
  const since = BigInt(Date.now() + 60_000) * 1_000_000n
  const fork = await link.collect({ changes, since })
  if (fork === undefined) throw new Error('nothing was kept')
  return fork
}

/** Kills an act at every step. The root is closed too; only a kill may leave it open to its owner. */
async function killAtEveryStep(scratch: string, act: 'apply' | 'undo'): Promise<ClosedDirectoriesReport> {
  const [outcomes, problems]: [(string | undefined)[], unknown[]] = [[], []]
  for (let at = 1; ; at++) {
    const place = fs.mkdtempSync(join(scratch, 'run-'))
    const [directory, upper] = [join(place, 'project'), join(place, 'upper')]
    for (const path of [directory, upper]) fs.mkdirSync(path)
    makeTree(directory, before)
    await using home = await openHome()
    const link = new LinkedDirectory(home, directory)
    const fork = await createFork(link, upper)
    fs.chmodSync(directory, closed.mode)
    if (act === 'undo') await link.apply(fork)
    const executioner = new Executioner(at)
    const guarded = new LinkedDirectory(executioner.guardHome(home), directory)
    await executioner.run(() => guarded[act](fork))
    const isKilled = executioner.isDone
    const [recovery] = await link.recover()
    outcomes.push(recovery?.outcome)
    const isDone = recovery?.outcome === 'finished' || !isKilled
    const wanted = (act === 'apply') === isDone ? after : before
    const left = readTree(directory)
    const mode = fs.statSync(directory).mode & 0o7777
    const isRootRight = mode === closed.mode || (isKilled && mode === (closed.mode | 0o200))
    if (toText(left) !== toText(wanted) || !isRootRight) problems.push({ act, at, recovery, mode, left })
    if (!isKilled) return { outcomes, problems }
  }
}

const [, , scratch = '', act = ''] = process.argv
process.umask(0o022)
console.log(JSON.stringify(await killAtEveryStep(scratch, act === 'undo' ? 'undo' : 'apply')))
