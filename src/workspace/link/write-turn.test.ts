import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { ownMark } from '../../machine/index.ts'
import { WriteTurn } from './write-turn.ts'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'write-turn-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  vi.spyOn(Math, 'random').mockReturnValue(0)
  onTestFinished(() => void vi.restoreAllMocks())
})

function make(mark: string): string {
  const name = `.coppice-turn-${mark}`
  mkdirSync(join(directory, name))
  return name
}

describe('the turn to write into a directory', () => {
  it('is not kept by what somebody gave such a name, nor is that removed', async () => {
    const names = ['x', '4026531836-424242-777-aabbccddeeff', ''].map(make)
    using _turn = await WriteTurn.take(directory)
    expect(readdirSync(directory)).toEqual(expect.arrayContaining(names))
  })

  it('is not kept by a process that is over', async () => {
    // The same process, but as if it had begun at another time.
    make(ownMark().replace(/-\d+-([0-9a-f]+)$/, '-1-$1'))
    ;(await WriteTurn.take(directory))[Symbol.dispose]()
    expect(readdirSync(directory)).toEqual([])
  })

  it('is waited for as long as it takes whoever has it, and nothing is made meanwhile', async () => {
    const first = await WriteTurn.take(directory)
    const waiting = WriteTurn.take(directory)
    await expect
      .poll(() => vi.mocked(Math.random).mock.calls.length, { timeout: 20_000 })
      .toBeGreaterThan(300)
    expect(readdirSync(directory)).toHaveLength(1)
    first[Symbol.dispose]()
    using _second = await waiting
    expect(readdirSync(directory)).toHaveLength(1)
  })

  it('is refused after minutes, with what to remove if it is nobody’s, such as that of another machine', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const other = make(ownMark().replace(/^.{8}/, '00000000'))
    const waiting = WriteTurn.take(directory)
    vi.advanceTimersByTime(10 * 60_000)
    await expect(waiting).rejects.toMatchObject({
      code: 'EUNAVAILABLE',
      detail: expect.stringContaining(`remove ${join(directory, other)} if nobody is`),
    })
    expect(readdirSync(directory)).toEqual([other])
  })
})
