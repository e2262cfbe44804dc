import assert from 'node:assert/strict'
import type * as FastCheck from 'fast-check'
import { type FileSystem, readFile, readText } from '../../vfs/index.ts'
import { listNames, listWalkedPaths } from '../assertions.ts'
import { DEFAULT_RUNS, type FastCheckModule, loadFastCheck, withFreshFileSystem } from '../fast-check.ts'
import type { Case } from '../subject.ts'
import { captureOutcome, type ModelAction, TreeModel } from '../tree-model.ts'

export const propertyCases: readonly Case[] = [
  {
    name: 'any bytes, cut into any chunks, come back as they were',
    needs: ['write'],
    seed: {},
    run: async (fs, { runs = DEFAULT_RUNS }) => {
      const fc = await loadFastCheck()
      const content = fc.uint8Array({ maxLength: 500 })
      const property = fc.asyncProperty(
        content,
        fc.integer({ min: 1, max: 600 }),
        async (bytes, chunkSize) => {
          await fs.write('/file', bytes)
          assert.deepEqual(Buffer.from(await readFile(fs, '/file', { chunkSize })), Buffer.from(bytes))
        },
      )
      await fc.assert(property, { numRuns: runs })
    },
  },
  {
    name: 'any byte and line range gives what slicing the text would',
    needs: ['write'],
    seed: {},
    run: async (fs, { runs = DEFAULT_RUNS }) => {
      const fc = await loadFastCheck()
      await fc.assert(rangeProperty(fc, fs), { numRuns: runs })
    },
  },
  {
    name: 'the walked set is the written set',
    needs: ['write'],
    seed: {},
    run: async (_fs, subject) => {
      const fc = await loadFastCheck()
      const property = fc.asyncProperty(fc.uniqueArray(filePathArbitrary(fc), { maxLength: 12 }), (paths) =>
        withFreshFileSystem(subject, async (fs) => {
          const written = new Set<string>()
          for (const path of paths) {
            const outcome = await captureOutcome(() => fs.write(path, path))
            if ('ok' in outcome) written.add(path)
          }
          assert.deepEqual((await listWalkedPaths(fs, '/')).toSorted(), [...written].sort())
        }),
      )
      await fc.assert(property, { numRuns: subject.runs ?? DEFAULT_RUNS })
    },
  },
  {
    name: 'any sequence of operations answers as a plain map would',
    needs: ['write', 'mkdir'],
    seed: {},
    run: async (_fs, subject) => {
      const fc = await loadFastCheck()
      const property = fc.asyncProperty(fc.array(actionArbitrary(fc), { maxLength: 30 }), (actions) =>
        withFreshFileSystem(subject, (fs) => assertMatchesModel(fs, actions)),
      )
      await fc.assert(property, { numRuns: subject.runs ?? DEFAULT_RUNS })
    },
  },
]

async function assertMatchesModel(fs: FileSystem, actions: readonly ModelAction[]): Promise<void> {
  const model = new TreeModel()
  for (const [index, action] of actions.entries()) {
    const actual = await captureOutcome(() => performAction(fs, action))
    const expected = await captureOutcome(() => model.perform(action))
    assert.deepEqual(actual, expected, `step ${index}: ${action.op} ${action.path}`)
  }
}

async function performAction(fs: FileSystem, { op, path, content, flag }: ModelAction): Promise<unknown> {
  switch (op) {
    case 'write':
      return fs.write(path, content, { parents: flag })
    case 'mkdir':
      return fs.mkdir(path, { parents: flag })
    case 'remove':
      return fs.remove(path, { recursive: flag })
    case 'read':
      return readText(fs, path)
    case 'stat':
      return (await fs.stat(path)).type
    case 'readdir':
      return listNames(fs, path)
    case 'exists':
      return fs.exists(path)
    case 'walk':
      return (await listWalkedPaths(fs, path, { includeDirs: true })).sort()
  }
}

function rangeProperty(
  fc: FastCheckModule,
  fs: FileSystem,
): FastCheck.IAsyncProperty<[string, number, number, number, number]> {
  const bound = fc.nat({ max: 60 })
  const line = fc.integer({ min: 1, max: 8 })
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '\n', '\r'), maxLength: 50 })
  return fc.asyncProperty(text, bound, bound, line, line, async (content, start, length, one, other) => {
    const [first, last] = [Math.min(one, other), Math.max(one, other)]
    await fs.write('/file', content)
    const bytes = content.slice(start, start + length)
    const options = { byteRange: [start, length], chunkSize: 3 } as const
    assert.equal(await readText(fs, '/file', options), bytes)
    assert.equal(
      await readText(fs, '/file', { ...options, lineRange: [first, last] }),
      sliceLines(bytes, first, last),
    )
    const rest = bytes.split('\n').slice(first - 1)
    assert.equal(await readText(fs, '/file', { ...options, lineRange: [first, 'end'] }), rest.join('\n'))
  })
}

function sliceLines(text: string, first: number, last: number): string {
  const all = text.split('\n')
  if (all.at(-1) === '') all.pop()
  return all.slice(first - 1, last).join('\n')
}

/** Generates few names at little depth, so that random operations collide. */
function filePathArbitrary(fc: FastCheckModule): FastCheck.Arbitrary<string> {
  const name = fc.constantFrom('a', 'b', 'ab')
  return fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => `/${parts.join('/')}`)
}

function actionArbitrary(fc: FastCheckModule): FastCheck.Arbitrary<ModelAction> {
  const mutations = ['write', 'write', 'mkdir', 'remove'] as const
  const queries = ['read', 'stat', 'readdir', 'exists', 'walk'] as const
  return fc.record({
    op: fc.constantFrom(...mutations, ...queries),
    path: filePathArbitrary(fc),
    content: fc.constantFrom('', 'x', 'line\n'),
    flag: fc.boolean(),
  })
}
