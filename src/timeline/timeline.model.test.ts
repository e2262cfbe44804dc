import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Home, openHome } from '../backends/vault/index.ts'
import { isVfsError } from '../vfs/index.ts'
import type { AgentEvent } from './events/index.ts'
import { Timeline } from './timeline.ts'

const LINES = 6
const runs = 25 * Number(process.env['TIMES'] ?? 1)

/** One edit: a line of a file, a new file, a removal or a move. Each line that is written is unique. */
type Edit =
  | { readonly do: 'line'; readonly file: string; readonly line: number }
  | { readonly do: 'remove'; readonly file: string }
  | { readonly do: 'move'; readonly file: string; readonly to: string }
type Step =
  | { readonly by: 'person'; readonly edit: Edit }
  | { readonly by: 'agent'; readonly edits: readonly Edit[]; readonly isKilled: boolean }
  | { readonly by: 'prompt' }
  | { readonly by: 'undo'; readonly last: number; readonly merge: boolean }
  | { readonly by: 'redo' }

const file = fc.constantFrom('a', 'd/a', 'd/e/b')
const edit: fc.Arbitrary<Edit> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('line'), file, line: fc.nat(LINES - 1) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove'), file }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('move'), file, to: file }) },
)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ by: fc.constant('person'), edit }) },
  {
    weight: 4,
    arbitrary: fc.record({
      by: fc.constant('agent'),
      edits: fc.array(edit, { minLength: 1, maxLength: 4 }),
      isKilled: fc.nat(5).map((number) => number === 0),
    }),
  },
  { weight: 2, arbitrary: fc.record({ by: fc.constant('prompt') }) },
  {
    weight: 3,
    arbitrary: fc.record({
      by: fc.constant('undo'),
      last: fc.integer({ min: 1, max: 3 }),
      merge: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ by: fc.constant('redo') }) },
)

const place = mkdtempSync(join(tmpdir(), 'coppice-timeline-'))
let home: Home
beforeAll(async () => {
  home = await openHome({ path: join(place, 'home'), durability: 'relaxed' })
})
afterAll(async () => {
  await home.close()
  rmSync(place, { recursive: true })
})

/** A directory, an agent with hooks and a person in it, and what the person's lines are. */
class World {
  readonly directory = mkdtempSync(join(place, 'project-'))
  readonly timeline = new Timeline({ path: join(place, 'home'), open: async () => home }, this.directory)
  #lines = 0
  #calls = 0

  async start(): Promise<void> {
    for (const name of ['a', 'd/a']) this.#write(name, this.#createText())
    await this.send('session-start')
    await this.send('prompt')
  }

  send(kind: AgentEvent['kind'], id = ''): Promise<void> {
    const event: AgentEvent = { agent: 'claude', kind, session: 's', directory: this.directory }
    const call = { id, tool: 'Bash', summary: 'edit', reach: 'anything' } as const
    return this.timeline.receive({
      ...event,
      ...(kind === 'prompt' && { prompt: 'go' }),
      ...(id !== '' && { call }),
    })
  }

  /** Runs edits as one call of the agent. A killed one reports no end, and the agent starts again. */
  async call(edits: readonly Edit[], isKilled: boolean): Promise<void> {
    const id = String(++this.#calls)
    await this.send('before-tool', id)
    for (const each of edits) this.edit(each, 'agent')
    if (!isKilled) await this.send('after-tool', id)
    else await this.send('session-start')
  }

  edit(each: Edit, by: string): void {
    const text = this.read().get(each.file)
    if (each.do === 'line') {
      const lines = (text ?? this.#createText()).split('\n')
      lines[each.line] = `${by} ${++this.#lines}`
      this.#write(each.file, lines.join('\n'))
    } else if (text === undefined) return
    else if (each.do === 'remove') rmSync(join(this.directory, each.file))
    else if (each.to !== each.file) {
      mkdirSync(join(this.directory, each.to, '..'), { recursive: true })
      renameSync(join(this.directory, each.file), join(this.directory, each.to))
    }
  }

  /** Reads every file. */
  read(): Map<string, string> {
    const names = readdirSync(this.directory, { recursive: true, withFileTypes: true })
    const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
    return new Map(
      files.sort().map((path) => [path.slice(this.directory.length + 1), readFileSync(path, 'utf8')]),
    )
  }

  #createText(): string {
    return Array.from({ length: LINES }, () => `start ${++this.#lines}\n`).join('')
  }

  #write(name: string, text: string): void {
    mkdirSync(join(this.directory, name, '..'), { recursive: true })
    writeFileSync(join(this.directory, name), text)
  }
}

/** Returns what a refused undo or redo throws; undefined if it was done. */
async function attempt(work: Promise<unknown>): Promise<unknown> {
  try {
    await work
    return undefined
  } catch (error) {
    if (isVfsError(error, 'ECONFLICT') || isVfsError(error, 'ENOENT')) return error
    throw error
  }
}

function listLines(files: ReadonlyMap<string, string>, by: string): Set<string> {
  return new Set(
    [...files.values()].flatMap((text) => text.split('\n')).filter((line) => line.startsWith(by)),
  )
}

it('loses nothing that a person changed, whatever an agent and a person do in turn', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 20 }), async (steps) => {
      const world = new World()
      await world.start()
      /** The person's own states: files as the person left them since the agent's last call on them. */
      const personal = new Map<string, string | undefined>()
      for (const each of steps) {
        if (each.by === 'person') {
          const before = world.read()
          world.edit(each.edit, 'person')
          const after = world.read()
          for (const name of new Set([...before.keys(), ...after.keys()]))
            if (before.get(name) !== after.get(name)) personal.set(name, after.get(name))
        } else if (each.by === 'agent') {
          const before = world.read()
          await world.call(each.edits, each.isKilled)
          const after = world.read()
          for (const name of personal.keys()) if (before.get(name) !== after.get(name)) personal.delete(name)
        } else if (each.by === 'prompt') await world.send('prompt')
        else {
          const before = world.read()
          const work =
            each.by === 'redo'
              ? world.timeline.redo()
              : world.timeline.undo({ selection: { last: each.last }, merge: each.merge })
          const refusal = await attempt(work)
          const after = world.read()
          // Refused means untouched.
          if (refusal !== undefined) expect(after).toEqual(before)
          // Lines of the person in the directory stay in it, wherever the agent's changes around them go.
          const lines = listLines(after, 'person')
          if (each.by === 'undo')
            for (const line of listLines(before, 'person')) expect(lines.has(line), line).toBe(true)
          // Files that only the person touched since stay as they are, also the removed ones.
          if (each.by === 'undo' && !each.merge)
            for (const [name, text] of personal) expect(after.get(name)).toBe(text)
          // A merge took the agent's lines out of them, or put them back.
          for (const name of personal.keys()) if (before.get(name) !== after.get(name)) personal.delete(name)
          // Whatever was undone comes back.
          if (refusal === undefined && each.by === 'undo') {
            await world.timeline.redo()
            expect(world.read()).toEqual(before)
            await world.timeline.undo({ selection: { last: each.last }, merge: each.merge })
            expect(world.read()).toEqual(after)
          }
        }
      }
    }),
    { numRuns: runs },
  )
})

it('puts files back to the byte where only the agent changed them', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(edit, { minLength: 1, maxLength: 4 }), { maxLength: 6 }),
      async (calls) => {
        const world = new World()
        await world.start()
        const states = [world.read()]
        for (const edits of calls) {
          await world.send('prompt')
          await world.call(edits, false)
          states.push(world.read())
        }
        const { history } = await world.timeline.list()
        const changed = history.listLastPrompts(calls.length)
        for (const prompt of changed) {
          await world.timeline.undo({ selection: { prompt } })
          // The first prompt of the world has no call.
          expect(world.read()).toEqual(states[prompt - 2])
        }
        for (const prompt of changed.toReversed()) {
          await world.timeline.redo()
          expect(world.read()).toEqual(states[prompt - 1])
        }
      },
    ),
    { numRuns: runs },
  )
})
