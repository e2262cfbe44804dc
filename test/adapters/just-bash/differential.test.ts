import { isDeepStrictEqual } from 'node:util'
import { DefenseInDepthBox } from 'just-bash'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { differences } from './differences.ts'
import { generatedScripts } from './generated-scripts.ts'
import { outcomeOf } from './outcome.ts'
import { type Script, writtenScripts } from './script-table.ts'
import { inMemory, overMemory, overVaults, type Subject } from './subjects.ts'

const GENERATED = 60
const scripts = [...writtenScripts(), ...generatedScripts(GENERATED, 1)]
const topics = Map.groupBy(scripts, ({ name }) => name.slice(0, name.indexOf(':')))
const explained = new Set(differences.flatMap((difference) => difference.scripts))

describe('a script has the same result on InMemoryFs, on MemoryFs and on a vault', () => {
  let subjects: { readonly theirs: Subject; readonly memory: Subject; readonly vaults: Subject }
  // Activated once for all scripts, because activation is slow.
  const hardening = DefenseInDepthBox.getInstance(true).activate()

  beforeAll(async () => {
    subjects = { theirs: inMemory(), memory: await overMemory(), vaults: await overVaults() }
  })

  afterAll(async () => {
    await subjects.vaults[Symbol.asyncDispose]()
    hardening.deactivate()
  })

  it.each([...topics])('%s', async (_topic, ofTopic) => {
    for (const script of ofTopic) await compare(script)
  })

  it('is tested with at least 500 scripts, including all with known differences', () => {
    const names = new Set(scripts.map(({ name }) => name))
    expect(names.size).toBe(scripts.length)
    expect(names.size).toBeGreaterThanOrEqual(500)
    expect([...explained].filter((name) => !names.has(name))).toEqual([])
  })

  async function compare({ name, text }: Script): Promise<void> {
    const on = async (subject: Subject) => outcomeOf(await subject.shell(), text)
    const theirs = await on(subjects.theirs)
    const ours = await on(subjects.memory)
    expect(await on(subjects.vaults), `${name}, on a vault`).toEqual(ours)
    if (!explained.has(name)) expect(ours, name).toEqual(theirs)
    else expect(isDeepStrictEqual(ours, theirs), `${name} no longer differs`).toBe(false)
  }
})
