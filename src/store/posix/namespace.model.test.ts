import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { isVfsError } from '../../vfs/index.ts'
import { listDentries } from '../files/directory-entries.ts'
import { fsck, MemoryEngine, SqliteEngine, StoreHome } from '../index.ts'
import { PosixFiles, type RenameMode } from './index.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-posix-names-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const OWNER = { mode: 0o755, uid: 7, gid: 8 }
let places = 0

/** Something of the model. It stays in the list of all there ever was when it is gone. */
interface Thing {
  readonly ino: number
  readonly isDirectory: boolean
  readonly entries: Map<string, Thing>
  links: number
  opens: number
  isGone: boolean
}

interface Step {
  readonly do: 'create' | 'mkdir' | 'link' | 'unlink' | 'rmdir' | 'rename' | 'open' | 'release' | 'reopen'
  /** Which of all things: modulo how many there are. */
  readonly dir: number
  readonly name: string
  readonly otherDir: number
  readonly otherName: string
  readonly thing: number
  readonly mode: RenameMode
}

class Refusal extends Error {
  readonly code: string

  constructor(code: string) {
    super(code)
    this.code = code
  }
}

function refuseIf(isRefused: boolean, code: string): void {
  if (isRefused) throw new Refusal(code)
}

/** POSIX in a few lines, with the order of errors that Linux has. */
class Model {
  readonly root: Thing = newThing(PosixFiles.root, true)
  readonly all: Thing[] = [this.root]

  constructor() {
    this.root.links = 1
  }

  pick(index: number): Thing {
    return this.all[index % this.all.length] ?? this.root
  }

  make(dir: Thing, name: string, isDirectory: boolean, ino: () => number): void {
    this.#assertDirectory(dir)
    refuseIf(dir.entries.has(name), 'EEXIST')
    const thing = newThing(ino(), isDirectory)
    this.all.push(thing)
    this.#enter(dir, name, thing)
  }

  link(thing: Thing, dir: Thing, name: string): void {
    refuseIf(thing.isGone, 'ENOENT')
    this.#assertDirectory(dir)
    refuseIf(dir.entries.has(name), 'EEXIST')
    refuseIf(thing.isDirectory, 'EPERM')
    this.#enter(dir, name, thing)
  }

  unlink(dir: Thing, name: string): void {
    const thing = this.#find(dir, name)
    refuseIf(thing.isDirectory, 'EISDIR')
    this.#drop(dir, name)
  }

  rmdir(dir: Thing, name: string): void {
    const thing = this.#find(dir, name)
    refuseIf(!thing.isDirectory, 'ENOTDIR')
    refuseIf(thing.entries.size > 0, 'ENOTEMPTY')
    this.#drop(dir, name)
  }

  rename(dir: Thing, name: string, target: Thing, newName: string, mode: RenameMode): void {
    const thing = this.#find(dir, name)
    this.#assertDirectory(target)
    const there = target.entries.get(newName)
    refuseIf(mode === 'noreplace' && there !== undefined, 'EEXIST')
    refuseIf(mode === 'exchange' && there === undefined, 'ENOENT')
    refuseIf(isBelow(target, thing), 'EINVAL')
    refuseIf(there !== undefined && isBelow(dir, there), mode === 'exchange' ? 'EINVAL' : 'ENOTEMPTY')
    if (there === thing) return
    if (there !== undefined && mode === 'exchange') {
      dir.entries.set(name, there)
      target.entries.set(newName, thing)
      return
    }
    if (there !== undefined) {
      refuseIf(thing.isDirectory && !there.isDirectory, 'ENOTDIR')
      refuseIf(!thing.isDirectory && there.isDirectory, 'EISDIR')
      refuseIf(there.entries.size > 0, 'ENOTEMPTY')
      this.#drop(target, newName)
    }
    dir.entries.delete(name)
    target.entries.set(newName, thing)
  }

  open(thing: Thing): void {
    refuseIf(thing.isGone, 'ENOENT')
    thing.opens++
  }

  release(thing: Thing): void {
    if (thing.opens > 0) thing.opens--
    this.#bury(thing)
  }

  /** Everybody who had something open is gone. */
  crash(): void {
    for (const thing of this.all) {
      thing.opens = 0
      this.#bury(thing)
    }
  }

  #find(dir: Thing, name: string): Thing {
    const thing = dir.entries.get(name)
    if (thing !== undefined) return thing
    this.#assertDirectory(dir)
    throw new Refusal('ENOENT')
  }

  #assertDirectory(dir: Thing): void {
    refuseIf(dir.isGone, 'ENOENT')
    refuseIf(!dir.isDirectory, 'ENOTDIR')
    refuseIf(dir.links === 0, 'ENOENT')
  }

  #enter(dir: Thing, name: string, thing: Thing): void {
    dir.entries.set(name, thing)
    thing.links++
  }

  #drop(dir: Thing, name: string): void {
    const thing = this.#find(dir, name)
    dir.entries.delete(name)
    thing.links--
    this.#bury(thing)
  }

  #bury(thing: Thing): void {
    if (thing.links === 0 && thing.opens === 0) thing.isGone = true
  }
}

/** Each of them has a `..`, which is one more name of this directory. */
function countSubdirectories({ entries }: Thing): number {
  return [...entries.values()].filter(({ isDirectory }) => isDirectory).length
}

function newThing(ino: number, isDirectory: boolean): Thing {
  return { ino, isDirectory, entries: new Map(), links: 0, opens: 0, isGone: false }
}

function isBelow(at: Thing, ancestor: Thing): boolean {
  return at === ancestor || [...ancestor.entries.values()].some((child) => isBelow(at, child))
}

function codeOf(work: () => void): string | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    if (error instanceof Refusal || isVfsError(error)) return error.code
    throw error
  }
}

function perform(posix: PosixFiles, model: Model, step: Step): void {
  const [dir, other, thing] = [model.pick(step.dir), model.pick(step.otherDir), model.pick(step.thing)]
  const { name, otherName, mode } = step
  const both = (real: () => void, modelled: () => void) => {
    const code = codeOf(real)
    expect([step, code]).toEqual([step, codeOf(modelled)])
  }
  let ino = -1
  const made = (make: () => number) => () => {
    ino = make()
  }
  if (step.do === 'create' || step.do === 'mkdir') {
    const isDirectory = step.do === 'mkdir'
    const make = isDirectory ? posix.mkdir.bind(posix) : posix.create.bind(posix)
    both(
      made(() => make(dir.ino, name, OWNER)),
      () => model.make(dir, name, isDirectory, () => ino),
    )
  } else if (step.do === 'link') {
    both(
      () => posix.link(thing.ino, dir.ino, name),
      () => model.link(thing, dir, name),
    )
  } else if (step.do === 'unlink' || step.do === 'rmdir') {
    const { do: act } = step
    both(
      () => posix[act](dir.ino, name),
      () => model[act](dir, name),
    )
  } else if (step.do === 'rename') {
    both(
      () => posix.rename(dir.ino, name, other.ino, otherName, mode),
      () => model.rename(dir, name, other, otherName, mode),
    )
  } else if (step.do === 'open' || step.do === 'release') {
    const { do: act } = step
    both(
      () => posix[act](thing.ino),
      () => model[act](thing),
    )
  }
}

function assertSame(posix: PosixFiles, model: Model): void {
  for (const thing of model.all) {
    const { ino, isDirectory, links, isGone } = thing
    if (isGone) {
      expect(codeOf(() => posix.getattr(ino))).toBe('ENOENT')
      continue
    }
    expect(posix.getattr(ino).nlink).toBe(isDirectory ? links && 2 + countSubdirectories(thing) : links)
    if (!isDirectory || links === 0) continue
    const found = posix.readdir(ino).map((entry) => [entry.name, entry.inode, entry.type])
    const expected = [...thing.entries].sort(([one], [next]) => (one < next ? -1 : 1))
    expect(found).toEqual(
      expected.map(([name, child]) => [name, child.ino, child.isDirectory ? 'directory' : 'file']),
    )
  }
}

/** Each inode knows exactly the names that lead to it. */
async function assertSound(home: StoreHome, model: Model): Promise<void> {
  expect((await fsck(home)).damaged).toEqual([])
  const files = (await home.openVault('base')).readFiles()
  const names = new Map<number, string[]>()
  for (const dir of model.all.filter(({ isDirectory, isGone }) => isDirectory && !isGone)) {
    for (const { name, inode } of files.listEntries(dir.ino))
      names.set(inode, [...(names.get(inode) ?? []), `${dir.ino}:${name}`].sort())
  }
  for (const { ino, isGone } of model.all.slice(1)) {
    if (isGone) continue
    const known = listDentries(files, ino, files.getInode(ino)).map(({ parent, name }) => `${parent}:${name}`)
    expect(known.sort()).toEqual(names.get(ino) ?? [])
  }
}

async function assertModelHolds(
  steps: readonly Step[],
  open: () => StoreHome,
  batchSize: number,
): Promise<void> {
  const model = new Model()
  let home = open()
  let posix = new PosixFiles(await home.createVault('base'), home.blobs)
  for (let at = 0; at < steps.length; at += batchSize) {
    const some = steps.slice(at, at + batchSize)
    if (batchSize === 1) for (const step of some) perform(posix, model, step)
    // A batch of a single process runs once, unless it changes nothing: then what it does to the model counts once, too.
    else posix.batch(() => runOnce(some, posix, model))
    assertSame(posix, model)
    if (!some.some((step) => step.do === 'reopen')) continue
    home = open()
    posix = new PosixFiles(await home.openVault('base'), home.blobs)
    posix.reapUnlinked()
    model.crash()
    assertSame(posix, model)
    await assertSound(home, model)
  }
  await assertSound(home, model)
}

const done = new WeakSet<readonly Step[]>()
let batches = 0

function runOnce(some: readonly Step[], posix: PosixFiles, model: Model): void {
  if (done.has(some)) return
  done.add(some)
  for (const step of some) {
    perform(posix, model, step)
    assertSame(posix, model)
  }
  // Makes sure that there is something to commit: attributes that are so already are none.
  posix.setattr(PosixFiles.root, { uid: ++batches })
}

const name = fc.constantFrom('a', 'b', 'c')
const index = fc.nat(30)
const step: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom(
    ...(['create', 'create', 'mkdir', 'mkdir', 'link', 'unlink', 'rmdir'] as const),
    ...(['rename', 'rename', 'rename', 'rename', 'open', 'release', 'reopen'] as const),
  ),
  dir: index,
  name,
  otherDir: index,
  otherName: name,
  thing: index,
  mode: fc.constantFrom('replace', 'replace', 'noreplace', 'exchange'),
})

describe('names and inodes', () => {
  const steps = fc.array(step, { maxLength: 60, size: 'max' })
  const batchSize = fc.constantFrom(1, 1, 7)

  it('are those of a plain model of POSIX, in memory', async () => {
    await fc.assert(
      fc.asyncProperty(steps, batchSize, async (all, size) => {
        const engine = new MemoryEngine()
        await assertModelHolds(all, () => new StoreHome(engine), size)
      }),
      { numRuns: 150 },
    )
  })

  it('are those of a plain model of POSIX, on disk, opened again without having been closed', async () => {
    await fc.assert(
      fc.asyncProperty(steps, batchSize, async (all, size) => {
        const file = join(scratch, `home-${++places}`)
        const engines: SqliteEngine[] = []
        const open = () => {
          const engine = new SqliteEngine({ file })
          engines.push(engine)
          return new StoreHome(engine)
        }
        try {
          await assertModelHolds(all, open, size)
        } finally {
          for (const engine of engines) await engine.close()
          rmSync(file, { force: true })
        }
      }),
      { numRuns: 40 },
    )
  })
})
