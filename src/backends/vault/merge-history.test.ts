import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { copy, diff, type FileSystem, isVfsError, MemoryFs, move } from '../../vfs/index.ts'
import { openHome } from './index.ts'

const sides = ['base', 'task'] as const
const name = fc.constantFrom('a', 'b', 'c', 'd/a', 'd/b', 'e/f/g')
const change = fc.record({
  act: fc.constantFrom('write', 'write', 'write', 'remove', 'move', 'mkdir'),
  side: fc.constantFrom(...sides),
  name,
  to: name,
  /** Not text: there is no way to join two versions of it. */
  content: fc.constantFrom('\0x', '\0y', `\0${'z'.repeat(5000)}`),
})
/** The side takes what the other has. */
const merge = fc.record({ side: fc.constantFrom(...sides) })
const step = fc.oneof({ weight: 4, arbitrary: change }, { weight: 1, arbitrary: merge })
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never

/** Each side changes only what is below its own directory, `/base` or `/task`. */
async function perform(fs: FileSystem, { act, side, name, to, content }: Change): Promise<string> {
  const [path, target] = [`/${side}/${name}`, `/${side}/${to}`]
  const work =
    act === 'write'
      ? fs.write(path, content)
      : act === 'mkdir'
        ? fs.mkdir(path, { parents: true })
        : act === 'remove'
          ? fs.remove(path, { recursive: true })
          : move(fs, path, target)
  return work.then(
    () => 'done',
    (error: unknown) => (isVfsError(error) ? error.code : String(error)),
  )
}

describe('vaults with independent changes', () => {
  it('merge each other repeatedly without a conflict, and each gets all changes of the other', async () => {
    const property = fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      await using home = await openHome()
      const base = await home.createVault('base')
      for (const side of sides) await base.write(`/${side}/a`, '\0start')
      const vaults = { base, task: await home.fork('base', 'task') }
      const models = { base: await copyOf(base), task: await copyOf(base) }
      for (const one of steps) {
        const { side } = one
        const other = side === 'base' ? 'task' : 'base'
        if ('name' in one) {
          expect(await perform(vaults[side], one)).toBe(await perform(models[side], one))
          continue
        }
        await home.merge(other, side)
        await replace(models[side], models[other], `/${other}`)
        for (const each of sides) await expectSame(models[each], vaults[each])
      }
      for (const each of sides) await expectSame(models[each], vaults[each])
      expect((await home.fsck()).damaged).toEqual([])
    })
    await fc.assert(property, { numRuns: 150 })
  })
})

async function copyOf(fs: FileSystem): Promise<MemoryFs> {
  const model = new MemoryFs()
  for (const side of sides) await copy(fs, `/${side}`, `/${side}`, { into: model })
  return model
}

async function replace(model: MemoryFs, source: MemoryFs, top: string): Promise<void> {
  await model.remove(top, { recursive: true })
  await copy(source, top, top, { into: model })
}

async function expectSame(model: FileSystem, actual: FileSystem): Promise<void> {
  const changes = await Array.fromAsync(diff(model, actual))
  expect(changes.map(({ kind, path }) => `${kind} ${path}`)).toEqual([])
}
