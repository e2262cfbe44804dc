import fc from 'fast-check'
import { expect, it } from 'vitest'
import { opcodes } from '../../src/fuse/protocol/index.ts'
import { Kernel, ROOT, text, u32, u64 } from './kernel.ts'

const NAMES = ['a', 'b'] as const
const NO_SUCH_INODE = 4242

/** What a kernel knows and what there is: an inode must live while it has a name or is known. */
class Model {
  readonly names = new Map<string, number>()
  readonly known = new Map<number, number>()
  readonly everMade = new Set<number>()

  isAlive(ino: number): boolean {
    return this.known.has(ino) || [...this.names.values()].includes(ino)
  }

  addLookup(ino: number): void {
    this.everMade.add(ino)
    this.known.set(ino, (this.known.get(ino) ?? 0) + 1)
  }

  forget(ino: number, times: number): void {
    const left = (this.known.get(ino) ?? 0) - times
    if (left > 0) this.known.set(ino, left)
    else this.known.delete(ino)
  }
}

type Step = (kernel: Kernel, model: Model) => void

const name = fc.constantFrom(...NAMES)
/** One of those made so far, or one that never was. */
const chosen = fc.nat(20)

const lookup = name.map(
  (each): Step =>
    (kernel, model) => {
      const ino = kernel.lookup(each)
      expect(ino).toBe(model.names.get(each) ?? 0)
      if (ino !== undefined && ino !== 0) model.addLookup(ino)
    },
)

const make = name.map(
  (each): Step =>
    (kernel, model) => {
      if (model.names.has(each)) return
      const ino = kernel.make(each)
      model.names.set(each, ino)
      model.addLookup(ino)
    },
)

const makeNameless = fc.constant<Step>((kernel, model) => {
  const answer = kernel.ask(opcodes.tmpfile, ROOT, Buffer.concat([u32(0, 0o644, 0, 0), text('/')]))
  model.addLookup(Number(answer?.body.readBigUInt64LE(0)))
})

const link = fc.tuple(name, chosen).map(
  ([each, which]): Step =>
    (kernel, model) => {
      const ino = inodeFor(model, which)
      const code = kernel.ask(opcodes.link, ROOT, Buffer.concat([u64(ino), text(each)]))?.errno
      if (code !== 0) return
      model.names.set(each, ino)
      model.addLookup(ino)
    },
)

const unlink = name.map(
  (each): Step =>
    (kernel, model) => {
      const code = kernel.ask(opcodes.unlink, ROOT, text(each))?.errno
      expect(code === 0).toBe(model.names.delete(each))
    },
)

const replace = fc.tuple(name, name).map(
  ([from, to]): Step =>
    (kernel, model) => {
      const code = kernel.ask(opcodes.rename, ROOT, Buffer.concat([u64(ROOT), text(from), text(to)]))?.errno
      const ino = model.names.get(from)
      expect(code === 0).toBe(ino !== undefined)
      // Two names of one file both stay.
      if (ino === undefined || ino === model.names.get(to)) return
      model.names.delete(from)
      model.names.set(to, ino)
    },
)

const listAll = fc.constant<Step>((kernel, model) => {
  const body = Buffer.concat([u64(0), u64(0), u32(4096, 0), u64(0), u64(0)])
  expect(kernel.ask(opcodes.readdirplus, ROOT, body)?.errno).toBe(0)
  for (const ino of model.names.values()) model.addLookup(ino)
})

const forget = fc.tuple(chosen, fc.integer({ min: 0, max: 2 })).map(
  ([which, times]): Step =>
    (kernel, model) => {
      const ino = inodeFor(model, which)
      expect(kernel.ask(opcodes.forget, ino, u64(times))).toBeUndefined()
      model.forget(ino, times)
    },
)

const storm = fc.array(fc.tuple(chosen, fc.integer({ min: 1, max: 3 })), { maxLength: 12 }).map(
  (pairs): Step =>
    (kernel, model) => {
      const all = pairs.map(([which, times]) => ({ ino: inodeFor(model, which), times }))
      const entries = all.map(({ ino, times }) => Buffer.concat([u64(ino), u64(times)]))
      expect(
        kernel.ask(opcodes.batchForget, 0, Buffer.concat([u32(all.length, 0), ...entries])),
      ).toBeUndefined()
      for (const { ino, times } of all) model.forget(ino, times)
    },
)

const step = fc.oneof(
  { arbitrary: lookup, weight: 4 },
  { arbitrary: forget, weight: 4 },
  { arbitrary: fc.oneof(make, makeNameless, link, unlink, replace, listAll, storm), weight: 8 },
)

it('keeps every inode that has a name or is known, and no other, whatever is forgotten how often', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
      const [kernel, model] = [await Kernel.connect(), new Model()]
      for (const each of steps) {
        each(kernel, model)
        // Lets go of what was forgotten.
        kernel.ask(opcodes.statfs, ROOT)
        for (const ino of model.everMade) expect(isThere(kernel, ino)).toBe(model.isAlive(ino))
      }
      kernel.ask(opcodes.destroy, 0)
      for (const ino of model.everMade)
        expect(isThere(kernel, ino)).toBe([...model.names.values()].includes(ino))
    }),
    { numRuns: 150 },
  )
})

function inodeFor({ everMade }: Model, which: number): number {
  return [...everMade][which % (everMade.size + 1)] ?? NO_SUCH_INODE
}

function isThere({ files }: Kernel, ino: number): boolean {
  try {
    files.getattr(ino)
    return true
  } catch {
    return false
  }
}
