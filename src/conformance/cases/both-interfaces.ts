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
import { listNames, listWalkedPaths } from '../assertions.ts'
import { DEFAULT_RUNS, type FastCheckModule, loadFastCheck, withFreshFileSystem } from '../fast-check.ts'
import { InodeModel, type ModelFile } from '../inode-model.ts'
import type { Case } from '../subject.ts'
import { captureOutcome } from '../tree-model.ts'

/** One step of a random sequence, on the asynchronous or the synchronous face. */
interface FaceStep {
  readonly op:
    | 'write'
    | 'append'
    | 'link'
    | 'rename'
    | 'remove'
    | 'read'
    | 'open'
    | 'patch'
    | 'truncate'
    | 'snapshot'
  readonly isSync: boolean
  readonly path: string
  readonly to: string
  readonly content: string
  /** Position of `patch`, size of `truncate`. */
  readonly position: number
  /** `overwrite` of rename, `recursive` of remove, `create` of open. */
  readonly flag: boolean
}

type BothFaces = FileSystem & Synchronous & HardLinkable & Renamable

export const bothInterfacesCases: readonly Case[] = [
  {
    name: 'any sequence on both faces, with links and open files, answers as a plain map of files would',
    needs: ['write', 'mkdir', 'sync', 'hardlink', 'rename', 'fork'],
    seed: {},
    run: async (_fs, subject) => {
      const fc = await loadFastCheck()
      const property = fc.asyncProperty(
        fc.array(stepArbitrary(fc), { maxLength: 40, size: 'max' }),
        (steps) =>
          withFreshFileSystem(subject, async (fs) => {
            assert.ok(isSynchronous(fs) && isHardLinkable(fs) && isRenamable(fs))
            await new ModelRun(fs).play(steps)
          }),
      )
      await fc.assert(property, { numRuns: subject.runs ?? DEFAULT_RUNS })
    },
  },
]

/** A file system and its model, with at most one open file and snapshots that must not change. */
class ModelRun {
  readonly #fs: BothFaces
  readonly #model = new InodeModel()
  readonly #snapshotChecks: (() => Promise<void>)[] = []
  #open: { readonly handle: SyncFileHandle; readonly file: ModelFile } | undefined

  constructor(fs: BothFaces) {
    this.#fs = fs
  }

  async play(steps: readonly FaceStep[]): Promise<void> {
    for (const [index, step] of steps.entries()) {
      const expected = await captureOutcome(() => this.#expect(step))
      const actual = await captureOutcome(() => this.#perform(step))
      assert.deepEqual(actual, expected, `step ${index}: ${JSON.stringify(step)}`)
      this.#assertHandle(`step ${index}: ${JSON.stringify(step)}`)
    }
    assert.deepEqual(await readContents(this.#fs), this.#model.contents())
    for (const check of this.#snapshotChecks) await check()
    this.#open?.handle.close()
  }

  #expect({ op, path, to, content, position, flag }: FaceStep): unknown {
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
      case 'read':
        return model.readEntry(path)
      case 'open':
        return void model.open(path, flag)
      case 'patch':
        return this.#open && patchFile(this.#open.file, position, content)
      case 'truncate':
        return this.#open && truncateFile(this.#open.file, position)
      case 'snapshot':
        return undefined
    }
  }

  #perform(step: FaceStep): unknown {
    const { op, path, content, position } = step
    switch (op) {
      case 'append':
        return append(this.#fs, path, content)
      case 'open':
        return this.#reopen(step)
      case 'patch':
        return this.#open?.handle.write(position, Buffer.from(content))
      case 'truncate':
        return this.#open?.handle.truncate(position)
      case 'snapshot':
        return this.#takeSnapshot(path)
      default:
        return step.isSync ? this.#performSync(step) : this.#performAsync(step)
    }
  }

  async #performAsync({ op, path, to, content, flag }: FaceStep): Promise<unknown> {
    const fs = this.#fs
    if (op === 'write') return fs.write(path, content)
    if (op === 'link') return fs.link(path, to)
    if (op === 'rename') return fs.rename(path, to, { overwrite: flag })
    if (op === 'remove') return fs.remove(path, { recursive: flag })
    const { type } = await fs.stat(path)
    if (type === 'directory') return { type, names: await listNames(fs, path) }
    return { type, content: await readText(fs, path), nlink: (await fs.identity(path)).nlink }
  }

  #performSync({ op, path, to, content, flag }: FaceStep): unknown {
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
      return { type, content: readHandleText(handle), nlink }
    } finally {
      handle.close()
    }
  }

  #reopen({ path, flag }: FaceStep): void {
    const handle = this.#fs.sync.open(path, { write: true, create: flag })
    this.#open?.handle.close()
    this.#open = { handle, file: this.#model.open(path, false) }
  }

  /** Takes a fork, and starts a stream if the path is a file. Both must still show the current state at the end. */
  async #takeSnapshot(path: string): Promise<void> {
    const contents = this.#model.contents()
    const fork = isForkable(this.#fs) ? this.#fs.fork() : assert.fail('it declares that it forks')
    this.#snapshotChecks.push(async () => assert.deepEqual(await readContents(fork), contents))
    const content = contents[path]
    if (content === undefined) return
    const chunks = this.#fs.read(path, { chunkSize: 2 })
    this.#snapshotChecks.push(async () => {
      assert.equal(Buffer.concat(await Array.fromAsync(chunks)).toString(), content)
    })
  }

  #assertHandle(message: string): void {
    if (this.#open === undefined) return
    const { handle, file } = this.#open
    const actual = { content: readHandleText(handle), nlink: handle.stat().nlink }
    assert.deepEqual(actual, { content: file.content, nlink: this.#model.nlink(file) }, message)
  }
}

function stepArbitrary(fc: FastCheckModule): FastCheck.Arbitrary<FaceStep> {
  const path = fc.constantFrom('/a', '/b', '/d', '/d/a', '/d/b', '/e', '/e/a')
  const names = ['write', 'append', 'link', 'link', 'rename', 'rename', 'remove', 'read'] as const
  const handles = ['open', 'open', 'patch', 'patch', 'patch', 'truncate', 'snapshot'] as const
  return fc.record({
    op: fc.constantFrom(...names, ...handles),
    isSync: fc.boolean(),
    path,
    to: path,
    content: fc.constantFrom('', 'x', 'four', 'eight by'),
    position: fc.nat({ max: 12 }),
    flag: fc.boolean(),
  })
}

function patchFile(file: ModelFile, position: number, content: string): void {
  if (content === '') return
  const before = file.content.slice(0, position).padEnd(position, '\0')
  file.content = before + content + file.content.slice(position + content.length)
}

function truncateFile(file: ModelFile, size: number): void {
  file.content = file.content.slice(0, size).padEnd(size, '\0')
}

function readHandleText(handle: SyncFileHandle): string {
  return Buffer.from(handle.read(0, handle.stat().size)).toString()
}

async function readContents(fs: FileSystem): Promise<Record<string, string>> {
  const contents: [string, string][] = []
  for (const path of (await listWalkedPaths(fs, '/')).sort()) contents.push([path, await readText(fs, path)])
  return Object.fromEntries(contents)
}
