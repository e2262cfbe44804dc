import { describe, expect, it } from 'vitest'
import { O_RDWR, sendDeviceRequest } from '../../kernel/index.ts'
import { MemoryFs } from '../../vfs/index.ts'
import { type AskedQuestions, Tty, ttyDevice } from './index.ts'

const choice = { question: 'Which?', options: ['A', 'B'] }
const free = { question: 'Why?' }
const several = { question: 'What?', options: ['x', 'y', 'z'], multi_select: true }

function scene({ isAttached = true } = {}) {
  const timers: { ms: number; fire: () => void; isStopped: boolean }[] = []
  const tty = new Tty({
    after: (ms, fire) => {
      const timer = { ms, fire, isStopped: false }
      timers.push(timer)
      return () => {
        timer.isStopped = true
      }
    },
  })
  const asked: AskedQuestions[] = []
  const settled: string[] = []
  if (isAttached)
    tty.attach({ onAsked: (questions) => asked.push(questions), onSettled: (id) => settled.push(id) })
  const process = new AbortController()
  const ask = async (...questions: object[]) => {
    const ctx = { pid: 3, caller: { kind: 'system' }, fs: new MemoryFs(), signal: process.signal } as const
    const file = await ttyDevice(tty).open('', O_RDWR, ctx)
    return JSON.parse(await sendDeviceRequest(file, { questions }))
  }
  return { tty, ask, asked, settled, process, timers }
}

describe('/dev/tty', () => {
  it('waits for the answers, one for each question', async () => {
    const { tty, ask, asked, settled, timers } = scene()
    const answers = ask(choice, free, several, several)
    await expect.poll(() => tty.pending().length).toBe(1)
    expect(asked).toMatchObject([{ id: '1', pid: 3, questions: [choice, { options: [] }, several, several] }])
    tty.answer('1', ['B', 'because', ['x', 'z'], 'y'])
    expect(await answers).toEqual({ answers: ['B', 'because', ['x', 'z'], ['y']] })
    expect([tty.pending(), settled, timers[0]?.isStopped]).toEqual([[], ['1'], true])
    expect(() => tty.answer('1', ['A'])).toThrow('ENOENT')
  })

  it('accepts free text in place of an option, and refuses answers that do not fit', async () => {
    const { tty, ask } = scene()
    const answers = ask(choice)
    await expect.poll(() => tty.pending().length).toBe(1)
    for (const replies of [[], ['A', 'B'], [''], [['A', 'B']]])
      expect(() => tty.answer('1', replies)).toThrow('EINVAL')
    tty.answer('1', ['neither'])
    expect(await answers).toEqual({ answers: ['neither'] })
  })

  it('keeps questions while nobody is attached, and shows them to the next person', async () => {
    const { tty, ask } = scene({ isAttached: false })
    const answers = ask(choice)
    await expect.poll(() => tty.pending().length).toBe(1)
    const shown: string[] = []
    tty.attach({ onAsked: ({ id }) => void shown.push(id) })
    expect(shown).toEqual(['1'])
    tty.answer('1', ['A'])
    expect(await answers).toEqual({ answers: ['A'] })
  })

  it('gives up after five minutes', async () => {
    const { tty, ask, settled, timers } = scene()
    const answers = ask(choice)
    await expect.poll(() => timers.length).toBe(1)
    expect(timers[0]?.ms).toBe(300_000)
    timers[0]?.fire()
    await expect(answers).rejects.toMatchObject({ code: 'ETIMEDOUT' })
    expect([tty.pending(), settled]).toEqual([[], ['1']])
  })

  it('ends with the process that asked', async () => {
    const { tty, ask, process, timers } = scene()
    const answers = ask(choice)
    await expect.poll(() => tty.pending().length).toBe(1)
    process.abort(new Error('killed'))
    await expect(answers).rejects.toThrow('killed')
    expect([tty.pending(), timers[0]?.isStopped]).toEqual([[], true])
    await expect(ask(choice)).rejects.toThrow('killed')
  })

  it('shows pending questions to a frontend that attaches later', async () => {
    const { tty, ask } = scene()
    const answers = ask(free)
    await expect.poll(() => tty.pending().length).toBe(1)
    const shown: string[] = []
    tty.attach({ onAsked: ({ id }) => shown.push(id) })
    expect(shown).toEqual(['1'])
    tty.answer('1', ['so'])
    await answers
  })

  it('accepts one to four questions', async () => {
    const { ask } = scene()
    await expect(ask()).rejects.toMatchObject({ code: 'EINVAL' })
    await expect(ask(free, free, free, free, free)).rejects.toMatchObject({ code: 'EINVAL' })
    await expect(ask({ options: ['A'] })).rejects.toThrow("'questions.0.question' is missing")
  })
})
