import assert from 'node:assert/strict'
import type * as FastCheck from 'fast-check'
import {
  append,
  type FileSystem,
  type HardLinkable,
  isForkable,
  isHardLinkable,
  isRenamable,
  isSynchronous,
  type Renamable,
  readText,
  type SyncFileHandle,
  type Synchronous,
} from '../../vfs/index.ts'
import { names, walked } from '../expect.ts'
import { DEFAULT_RUNS, type FC, fastCheck, onFresh } from '../fast-check.ts'
import { InodeModel, type ModelFile } from '../inode-model.ts'
import { outcomeOf } from '../model.ts'
import type { Case } from '../subject.ts'

/** One step of a random sequence, on one of the two faces. */
interface Step {
  readonly op: 'write' | 'append' | 'link' | 'rename' | 'remove' | 'look' | 'open' | 'put' | 'cut' | 'keep'
  readonly isSync: boolean
  readonly path: string
  readonly to: string
  readonly content: string
  readonly at: number
  /** `overwrite`, `recursive`, `create`. */
  readonly flag: boolean
}

type BothFaces = FileSystem & Synchronous & HardLinkable & Renamable

export const bothFacesCases: readonly Case[] = [
  {
    name: 'any sequence on both faces, with links and open files, answers as a plain map of files would',
    needs: ['write', 'mkdir', 'sync', 'hardlink', 'rename', 'fork'],
    seed: {},
    run: async (_fs, subject) => {
      const fc = await fastCheck()
      const property = fc.asyncProperty(fc.array(step(fc), { maxLength: 40, size: 'max' }), (steps) =>
        onFresh(subject, async (fs) => {
          assert.ok(isSynchronous(fs) && isHardLinkable(fs) && isRenamable(fs))
          await new Run(fs).play(steps)
        }),
      )
      await fc.assert(property, { numRuns: subject.runs ?? DEFAULT_RUNS })
    },
  },
]

/** A file system and the model of it, with one open file at most and what has to stay as it was. */
class Run {
  readonly #fs: BothFaces
  readonly #model = new InodeModel()
  readonly #kept: (() => Promise<void>)[] = []
  #open: { readonly handle: SyncFileHandle; readonly file: ModelFile } | undefined

  constructor(fs: BothFaces) {
    this.#fs = fs
  }

  async play(steps: readonly Step[]): Promise<void> {
    for (const [index, step] of steps.entries()) {
      const expected = await outcomeOf(() => this.#expect(step))
      const actual = await outcomeOf(() => this.#perform(step))
      assert.deepEqual(actual, expected, `step ${index}: ${JSON.stringify(step)}`)
      this.#assertHandle(`step ${index}: ${JSON.stringify(step)}`)
    }
    assert.deepEqual(await contentsOf(this.#fs), this.#model.contents())
    for (const check of this.#kept) await check()
    this.#open?.handle.close()
  }

  #expect({ op, path, to, content, at, flag }: Step): unknown {
    const model = this.#model
    switch (op) {
      case 'write':
        return model.write(path, content)
      case 'append':
        return model.append(path, content)
      case 'link':
        return model.link(path, to)
      case 'rename':
        return model.rename(path, to, flag)
      case 'remove':
        return model.remove(path, flag)
      case 'look':
        return model.look(path)
      case 'open':
        return void model.open(path, flag)
      case 'put':
        return this.#open && patch(this.#open.file, at, content)
      case 'cut':
        return this.#open && cut(this.#open.file, at)
      case 'keep':
        return undefined
    }
  }

  #perform(step: Step): unknown {
    const { op, path, content, at } = step
    switch (op) {
      case 'append':
        return append(this.#fs, path, content)
      case 'open':
        return this.#reopen(step)
      case 'put':
        return this.#open?.handle.write(at, Buffer.from(content))
      case 'cut':
        return this.#open?.handle.truncate(at)
      case 'keep':
        return this.#keep(path)
      default:
        return step.isSync ? this.#performNow(step) : this.#performLater(step)
    }
  }

  async #performLater({ op, path, to, content, flag }: Step): Promise<unknown> {
    const fs = this.#fs
    if (op === 'write') return fs.write(path, content)
    if (op === 'link') return fs.link(path, to)
    if (op === 'rename') return fs.rename(path, to, { overwrite: flag })
    if (op === 'remove') return fs.remove(path, { recursive: flag })
    const { type } = await fs.stat(path)
    if (type === 'directory') return { type, names: await names(fs, path) }
    return { type, content: await readText(fs, path), nlink: (await fs.identity(path)).nlink }
  }

  #performNow({ op, path, to, content, flag }: Step): unknown {
    const { sync } = this.#fs
    if (op === 'link') return sync.link(path, to)
    if (op === 'rename') return sync.rename(path, to, { overwrite: flag })
    if (op === 'remove') return sync.remove(path, { recursive: flag })
    if (op === 'write') {
      const handle = sync.open(path, { write: true, create: true, truncate: true })
      handle.write(0, Buffer.from(content))
      return handle.close()
    }
    const { type, nlink } = sync.stat(path)
    if (type === 'directory') return { type, names: sync.readdir(path).map(({ name }) => name) }
    const handle = sync.open(path)
    try {
      return { type, content: textOf(handle), nlink }
    } finally {
      handle.close()
    }
  }

  #reopen({ path, flag }: Step): void {
    const handle = this.#fs.sync.open(path, { write: true, create: flag })
    this.#open?.handle.close()
    this.#open = { handle, file: this.#model.open(path, false) }
  }

  /** A fork and a stream that is begun now show what is here now, whatever comes. */
  async #keep(path: string): Promise<void> {
    const contents = this.#model.contents()
    const fork = isForkable(this.#fs) ? this.#fs.fork() : assert.fail('it declares that it forks')
    this.#kept.push(async () => assert.deepEqual(await contentsOf(fork), contents))
    const content = contents[path]
    if (content === undefined) return
    const chunks = this.#fs.read(path, { chunkSize: 2 })
    this.#kept.push(async () => {
      assert.equal(Buffer.concat(await Array.fromAsync(chunks)).toString(), content)
    })
  }

  #assertHandle(message: string): void {
    if (this.#open === undefined) return
    const { handle, file } = this.#open
    const actual = { content: textOf(handle), nlink: handle.stat().nlink }
    assert.deepEqual(actual, { content: file.content, nlink: this.#model.nlink(file) }, message)
  }
}

function step(fc: FC): FastCheck.Arbitrary<Step> {
  const path = fc.constantFrom('/a', '/b', '/d', '/d/a', '/d/b', '/e', '/e/a')
  const names = ['write', 'append', 'link', 'link', 'rename', 'rename', 'remove', 'look'] as const
  const handles = ['open', 'open', 'put', 'put', 'put', 'cut', 'keep'] as const
  return fc.record({
    op: fc.constantFrom(...names, ...handles),
    isSync: fc.boolean(),
    path,
    to: path,
    content: fc.constantFrom('', 'x', 'four', 'eight by'),
    at: fc.nat({ max: 12 }),
    flag: fc.boolean(),
  })
}

function patch(file: ModelFile, at: number, content: string): void {
  if (content === '') return
  const before = file.content.slice(0, at).padEnd(at, '\0')
  file.content = before + content + file.content.slice(at + content.length)
}

function cut(file: ModelFile, size: number): void {
  file.content = file.content.slice(0, size).padEnd(size, '\0')
}

function textOf(handle: SyncFileHandle): string {
  return Buffer.from(handle.read(0, handle.stat().size)).toString()
}

async function contentsOf(fs: FileSystem): Promise<Record<string, string>> {
  const contents: [string, string][] = []
  for (const path of (await walked(fs, '/')).sort()) contents.push([path, await readText(fs, path)])
  return Object.fromEntries(contents)
}
