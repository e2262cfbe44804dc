import { describe, expect, it } from 'vitest'
import { compose, parseComposition } from './index.ts'

const diamond = `agents:
  end: {intent: end, depends_on: [left, right]}
  left: {intent: left, depends_on: [begin]}
  right: {intent: right, depends_on: [begin]}
  begin: {intent: begin}
`

describe('a composition', () => {
  it('runs independent processes concurrently, and passes results to their dependents', async () => {
    const running = new Set<string>()
    const both = Promise.withResolvers<void>()
    const intents = new Map<string, string>()
    const outcomes = await compose(parseComposition('x.yaml', diamond), async (name, { intent }) => {
      running.add(name)
      intents.set(name, intent)
      if (running.has('left') && running.has('right')) both.resolve()
      if (name === 'left' || name === 'right') await both.promise
      return { pid: running.size, fork: null, exit_code: 0, result: `${name} said`, reason: 'completed' }
    })
    expect(outcomes.map(({ name, state }) => [name, state])).toEqual([
      ['end', 'done'],
      ['left', 'done'],
      ['right', 'done'],
      ['begin', 'done'],
    ])
    expect(intents.get('begin')).toBe('begin')
    expect(intents.get('end')).toBe('end\n\nOutput of left:\nleft said\n\nOutput of right:\nright said')
  })

  it('starts each from the files of those it depends on, or of those that it names', async () => {
    const text = `${diamond}  last: {intent: last, depends_on: [left, right], from: right}\n  alone: {intent: alone, depends_on: [end], from: []}\n`
    const started = new Map<string, readonly string[]>()
    await compose(parseComposition('x.yaml', text), async (name, _agent, forks) => {
      started.set(name, forks)
      return { pid: 1, fork: `fork-${name}`, exit_code: 0, result: '', reason: '' }
    })
    expect(Object.fromEntries(started)).toEqual({
      begin: [],
      left: ['fork-begin'],
      right: ['fork-begin'],
      end: ['fork-left', 'fork-right'],
      last: ['fork-right'],
      alone: [],
    })
    const other = `agents:\n  a: {intent: x}\n  b: {intent: y, from: a}\n`
    expect(() => parseComposition('x.yaml', other)).toThrow(
      "line 3: 'b' starts from 'a', and has to depend on it",
    )
  })

  it('skips whatever depends on a failure, however far, and nothing else', async () => {
    const outcomes = await compose(parseComposition('x.yaml', diamond), async (name) => {
      if (name === 'left') throw new Error('no such model')
      return { pid: 1, fork: null, exit_code: 0, result: '', reason: '' }
    })
    const byName = Object.fromEntries(outcomes.map((outcome) => [outcome.name, outcome]))
    expect(byName).toMatchObject({
      begin: { state: 'done' },
      left: { state: 'failed', reason: 'no such model' },
      right: { state: 'done' },
      end: { state: 'skipped', reason: "'left' did not succeed" },
    })
  })

  it.each([
    ['agents: {a: {intent: x, depends_on: [b]}}', "line 1: 'a' depends on 'b', which does not exist"],
    ['agents:\n  a: {intent: x, depends_on: [a]}', 'line 2: the dependencies form a cycle: a → a'],
    ['agents:\n  a:\n    intent: x\n    pace: fast', 'line 3'],
    ['agents:\n  a: [', 'line 2'],
    ['agent: {}', "'agents'"],
  ])('refuses %j with the line', (text, problem) => {
    expect(() => parseComposition('x.yaml', text)).toThrow(problem)
  })
})
