import { describe, expect, it } from 'vitest'
import { compose, listFinalOutcomes, parseComposition } from './index.ts'

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
    const outcomes = await compose(parseComposition('x.yaml', diamond), async (name, node) => {
      running.add(name)
      intents.set(name, 'intent' in node ? node.intent : '')
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

  it('names the outcomes that together have the work of all', async () => {
    const text = `${diamond}  alone: {intent: alone, depends_on: [end], from: []}\n  bad: {intent: bad, depends_on: [end]}\n`
    const composition = parseComposition('x.yaml', text)
    const outcomes = await compose(composition, async (name) => {
      return { pid: 1, fork: `fork-${name}`, exit_code: name === 'bad' ? 1 : 0, result: '', reason: '' }
    })
    expect(listFinalOutcomes(composition, outcomes).map(({ name }) => name)).toEqual(['end', 'alone'])
  })

  it('passes results to each child of a supervisor, and its files to its dependents', async () => {
    const text = `agents:
  first: {intent: first}
  team:
    strategy: rest_for_one
    max_restarts: 5
    within: 2.5
    depends_on: [first]
    groups: [crew]
    children:
      - {intent: one, provider: claude, restart: permanent}
      - {intent: two}
  last: {intent: last, depends_on: [team]}
`
    const nodes = new Map<string, unknown>()
    const outcomes = await compose(parseComposition('x.yaml', text), async (name, node, forks) => {
      nodes.set(name, { ...node, forks })
      return { pid: 1, fork: `fork-${name}`, exit_code: 0, result: `${name} said`, reason: '' }
    })
    expect(outcomes.map(({ state }) => state)).toEqual(['done', 'done', 'done'])
    expect(nodes.get('team')).toEqual({
      strategy: 'rest_for_one',
      max_restarts: 5,
      within: 2.5,
      depends_on: ['first'],
      groups: ['crew'],
      children: [
        { intent: 'one\n\nOutput of first:\nfirst said', provider: 'claude', restart: 'permanent' },
        { intent: 'two\n\nOutput of first:\nfirst said', restart: 'transient' },
      ],
      forks: ['fork-first'],
    })
    expect(nodes.get('last')).toMatchObject({
      intent: 'last\n\nOutput of team:\nteam said',
      forks: ['fork-team'],
    })
  })

  it.each([
    ['agents:\n  a:\n    strategy: all_for_one\n    children: [{intent: x}]', "line 3: 'agents.a.strategy'"],
    ['agents:\n  a:\n    children:\n    - {intent: x}', "line 3: 'agents.a.strategy'"],
    ['agents:\n  a:\n    strategy: one_for_one', "line 3: 'agents.a.children'"],
    ['agents:\n  a:\n    strategy: one_for_one\n    children: []', "line 4: 'agents.a.children'"],
    [
      'agents:\n  a:\n    strategy: one_for_one\n    children:\n    - {intent: x}\n    - {intent: y, restart: often}',
      "line 6: 'agents.a.children.1.restart'",
    ],
    [
      'agents:\n  a:\n    strategy: one_for_one\n    intent: x\n    children: [{intent: x}]',
      'Unrecognized key: "intent"',
    ],
    [
      'agents:\n  a:\n    strategy: one_for_one\n    within: -1\n    children: [{intent: x}]',
      "line 4: 'agents.a.within'",
    ],
  ])('refuses the supervisor %j with the line', (text, problem) => {
    expect(() => parseComposition('x.yaml', text)).toThrow(problem)
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
