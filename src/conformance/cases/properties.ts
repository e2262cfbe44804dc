import assert from 'node:assert/strict'
import type * as FastCheck from 'fast-check'
import { type FileSystem, readFile, readText } from '../../vfs/index.ts'
import { names, walked } from '../expect.ts'
import { DEFAULT_RUNS, type FC, fastCheck, onFresh } from '../fast-check.ts'
import { type Action, Model, outcomeOf } from '../model.ts'
import type { Case } from '../subject.ts'

export const propertyCases: readonly Case[] = [
  {
    name: 'any bytes, cut into any chunks, come back as they were',
    needs: ['write'],
    seed: {},
    run: async (fs, { runs = DEFAULT_RUNS }) => {
      const fc = await fastCheck()
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
      const fc = await fastCheck()
      await fc.assert(rangeProperty(fc, fs), { numRuns: runs })
    },
  },
  {
    name: 'the walked set is the written set',
    needs: ['write'],
    seed: {},
    run: async (_fs, subject) => {
      const fc = await fastCheck()
      const property = fc.asyncProperty(fc.uniqueArray(filePath(fc), { maxLength: 12 }), (paths) =>
        onFresh(subject, async (fs) => {
          const written = new Set<string>()
          for (const path of paths) {
            const outcome = await outcomeOf(() => fs.write(path, path))
            if ('ok' in outcome) written.add(path)
          }
          assert.deepEqual((await walked(fs, '/')).toSorted(), [...written].sort())
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
      const fc = await fastCheck()
      const property = fc.asyncProperty(fc.array(action(fc), { maxLength: 30 }), (actions) =>
        onFresh(subject, (fs) => assertLikeModel(fs, actions)),
      )
      await fc.assert(property, { numRuns: subject.runs ?? DEFAULT_RUNS })
    },
  },
]

async function assertLikeModel(fs: FileSystem, actions: readonly Action[]): Promise<void> {
  const model = new Model()
  for (const [index, action] of actions.entries()) {
    const actual = await outcomeOf(() => perform(fs, action))
    const expected = await outcomeOf(() => model.answer(action))
    assert.deepEqual(actual, expected, `step ${index}: ${action.op} ${action.path}`)
  }
}

async function perform(fs: FileSystem, { op, path, content, flag }: Action): Promise<unknown> {
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
      return names(fs, path)
    case 'exists':
      return fs.exists(path)
    case 'walk':
      return (await walked(fs, path, { includeDirs: true })).sort()
  }
}

function rangeProperty(
  fc: FC,
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
      lines(bytes, first, last),
    )
    const rest = bytes.split('\n').slice(first - 1)
    assert.equal(await readText(fs, '/file', { ...options, lineRange: [first, 'end'] }), rest.join('\n'))
  })
}

function lines(text: string, first: number, last: number): string {
  const all = text.split('\n')
  if (all.at(-1) === '') all.pop()
  return all.slice(first - 1, last).join('\n')
}

/** Few names and little depth, so that random operations meet each other. */
function filePath(fc: FC): FastCheck.Arbitrary<string> {
  const name = fc.constantFrom('a', 'b', 'ab')
  return fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => `/${parts.join('/')}`)
}

function action(fc: FC): FastCheck.Arbitrary<Action> {
  const mutations = ['write', 'write', 'mkdir', 'remove'] as const
  const queries = ['read', 'stat', 'readdir', 'exists', 'walk'] as const
  return fc.record({
    op: fc.constantFrom(...mutations, ...queries),
    path: filePath(fc),
    content: fc.constantFrom('', 'x', 'line\n'),
    flag: fc.boolean(),
  })
}
