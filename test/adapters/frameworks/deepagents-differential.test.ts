import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { calls } from './deepagents-calls.ts'
import { type Difference, fromFilesystem, fromState } from './deepagents-differences.ts'
import { inState, onDisk, overMemory, overVault, type Subject } from './deepagents-subjects.ts'

describe('a backend answers like those of deepagents', () => {
  // The results of FilesystemBackend depend on whether ripgrep is installed.
  beforeAll(() => void vi.stubEnv('PATH', ''))
  afterAll(() => void vi.unstubAllEnvs())

  it('on a vault and in memory', async () => {
    expect(await answers(await overVault())).toEqual(await answers(await overMemory()))
  })

  it('like FilesystemBackend, except for the listed differences', async () => {
    const [ours, theirs] = [await answers(await overMemory()), await answers(await onDisk())]
    expect(differing(ours, theirs)).toEqual(listed(fromFilesystem))
  })

  it('like StateBackend, except for the listed differences', async () => {
    const [ours, theirs] = [await answers(await overMemory()), await answers(await inState())]
    expect(differing(ours, theirs)).toEqual(listed(fromState))
  })
})

type Answers = ReadonlyMap<string, unknown>

async function answers(given: Subject): Promise<Answers> {
  await using subject = given
  const found = new Map<string, unknown>()
  for (const [name, call] of Object.entries(calls)) {
    try {
      const result = await call(subject.backend)
      subject.settle(result)
      found.set(name, comparable(result))
    } catch (error) {
      found.set(name, { thrown: String(error) })
    }
  }
  return found
}

function differing(ours: Answers, theirs: Answers): string[] {
  return [...ours].filter(([name, one]) => !isDeepStrictEqual(one, theirs.get(name))).map(([name]) => name)
}

function listed(differences: readonly Difference[]): string[] {
  const names = new Set(differences.flatMap((difference) => difference.calls))
  return Object.keys(calls).filter((name) => names.has(name))
}

const TIMES: ReadonlySet<string> = new Set(['created_at', 'modified_at', 'filesUpdate'])

/** Removes times and state, and sorts matches: no backend promises an order. */
function comparable(value: unknown): unknown {
  if (value instanceof Uint8Array) return { bytes: [...value] }
  if (Array.isArray(value)) {
    return value.map(comparable).toSorted((one, other) => order(one).localeCompare(order(other)))
  }
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([key, held]) => !TIMES.has(key) && held !== undefined)
  return Object.fromEntries(entries.map(([key, held]) => [key, comparable(held)]))
}

function order(value: unknown): string {
  return JSON.stringify(value)
}
