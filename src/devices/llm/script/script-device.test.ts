import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Device, type DeviceContext, O_RDWR, sendDeviceRequest } from '../../../kernel/index.ts'
import { MemoryFs, writeFile } from '../../../vfs/index.ts'
import { scriptDevice } from '../index.ts'

const ctx: DeviceContext = {
  pid: 1,
  caller: { kind: 'system' },
  fs: new MemoryFs(),
  signal: new AbortController().signal,
}

async function deviceWith(files: Readonly<Record<string, string>>): Promise<Device> {
  const fs = new MemoryFs()
  for (const [name, text] of Object.entries(files))
    await writeFile(fs, `/scripts/${name}`, text, { parents: true })
  return scriptDevice({ fs, directory: '/scripts' })
}

interface Player {
  ask(last: string, more?: object, signal?: AbortSignal): Promise<unknown>
}

async function player(device: Device, subpath: string): Promise<Player> {
  const file = await device.open(subpath, O_RDWR, ctx)
  return {
    ask: async (last, more = {}, signal) =>
      JSON.parse(
        await sendDeviceRequest(file, { messages: [{ role: 'user', content: last }], ...more }, signal),
      ),
  }
}

const planner = `# A planner.
- expect: { intent: release, tools: task_create }
  say: { action: plan, steps: [look, write] }
  tokens: 12
- expect:
    last_message_contains: The plan is noted
  say:
    tool_call: { name: task_create, input: { subject: Notes } }
- expect: { last_message_matches: '"id":"(?<task>\\w+)"' }
  say: "Task {{task}} waits; {{nobody}} takes it."
`

describe('the script provider', () => {
  it('plays its entries, with values captured from the requests', async () => {
    const { ask } = await player(await deviceWith({ 'planner.yaml': planner }), '/planner')
    const more = { intent: 'a release', tools: [{ name: 'task_create' }] }
    expect(await ask('go', more)).toEqual({
      content: '{"action":"plan","steps":["look","write"]}',
      tokens_used: 12,
    })
    expect(await ask('The plan is noted: 2 steps.')).toEqual({
      content: '',
      tokens_used: 0,
      tool_calls: [{ id: 'call_5', name: 'task_create', input: { subject: 'Notes' } }],
    })
    expect(await ask('{"id":"t7"}')).toMatchObject({ content: 'Task t7 waits; {{nobody}} takes it.' })
  })

  it('fails with file, entry and both texts on another request, and keeps its position', async () => {
    const text = '- say: first\n- expect: { contains: [blue, red] }\n  say: second\n'
    const { ask } = await player(await deviceWith({ 'a.yml': text }), '/a')
    await ask('x')
    await expect(ask('the sky is blue')).rejects.toMatchObject({
      code: 'EIO',
      message:
        'EIO: entry 2 of /scripts/a.yml (line 2) expected some message to contain "red"; it was: "the sky is blue", write \'/dev/llm/script/a\'',
    })
    expect(await ask('red and blue')).toMatchObject({ content: 'second' })
    await expect(ask('more?')).rejects.toMatchObject({
      code: 'EIO',
      detail: 'the script /scripts/a.yml has ended after 2 entries; the request: "more?"',
    })
  })

  it.each([
    [{ intent: 'x' }, 'the intent to contain "x"'],
    [{ system_contains: 'x' }, 'the system prompt to contain "x"'],
    [{ last_message_contains: 'first' }, 'the last message to contain "first"'],
    [{ matches: '^nothing$' }, 'some message to match /^nothing$/'],
    [{ last_message_matches: 'first' }, 'the last message to match /first/'],
    [{ tools: ['shell'] }, "the tool 'shell' to be offered"],
  ])('reports the expectation %j', async (expectation, message) => {
    const device = await deviceWith({ 'a.ndjson': JSON.stringify({ expect: expectation, say: 'x' }) })
    const { ask } = await player(device, '/a')
    const messages = [
      { role: 'user', content: 'first' },
      { role: 'user', content: 'last' },
    ]
    await expect(ask('', { messages })).rejects.toMatchObject({ detail: expect.stringContaining(message) })
  })

  it('searches all messages, newest first', async () => {
    const device = await deviceWith({ 'a.yaml': "- expect: { matches: 'n=(?<n>\\d)' }\n  say: '{{n}}'" })
    const { ask } = await player(device, '/a')
    const messages = ['n=1', 'n=2', 'none'].map((content) => ({ role: 'user', content }))
    expect(await ask('', { messages })).toMatchObject({ content: '2' })
  })

  it('plays a script from its start for each process, and a shared one by what matches', async () => {
    const script = '- say: one\n- say: two\n'
    const shared = 'shared: true\nscript:\n- { expect: { intent: coder }, say: code }\n- { say: rest }\n'
    const device = await deviceWith({ 'own.yaml': script, 'both.yaml': shared })
    const [first, second] = [await player(device, '/own'), await player(device, '/own')]
    expect([await first.ask('x'), await second.ask('x')]).toMatchObject([
      { content: 'one' },
      { content: 'one' },
    ])
    const [reviewer, coder] = await Promise.all([player(device, '/both'), player(device, '/both')])
    expect(await reviewer.ask('x', { intent: 'reviewer' })).toMatchObject({ content: 'rest' })
    expect(await coder.ask('x', { intent: 'coder' })).toMatchObject({ content: 'code' })
    await expect(reviewer.ask('x')).rejects.toMatchObject({ detail: expect.stringContaining('has ended') })
  })

  it('is selected by the model of a request, and lists the scripts', async () => {
    const device = await deviceWith({
      'a.yaml': '- say: A',
      'b.jsonl': '{"say":"B"}\n',
      'notes.txt': '',
      'below/c.yaml': '- say: C',
    })
    const { ask } = await player(device, '')
    expect(await ask('x', { model: 'b' })).toMatchObject({ content: 'B' })
    expect(await ask('x', { model: 'a.yaml' })).toMatchObject({ content: 'A' })
    for (const model of ['../a', 'below/c', 'notes.txt', 'd']) {
      await expect(ask('x', { model })).rejects.toMatchObject({ code: 'ENOENT' })
    }
    await expect(ask('x')).rejects.toMatchObject({
      detail: "name a script with 'model'; there are: a, b",
    })
    expect(await device.list?.('', ctx)).toEqual([
      { name: 'a', type: 'device' },
      { name: 'b', type: 'device' },
    ])
  })

  it.each([
    [
      'a.yaml',
      '- say: x\n- expext: {}\n  say: y\n',
      "line 2: there is no key 'expext'; there are: expect, say, tokens, delay_ms",
    ],
    ['a.yaml', '- say: x\n- say:\n    wrong: 1\n', "line 3: 'say': a text, {action: …}"],
    ['a.yaml', 'shared: true\nscript:\n- say: x\n  tokens: -1\n', "line 4: 'tokens': "],
    ['a.yaml', '- say: x\n  expect: { matches: "(" }\n', "line 2: 'expect.matches': not a valid regular"],
    ['a.yaml', '- say: "x\n', 'line 2: '],
    ['a.yaml', '[]', 'line 1: a script has at least one entry'],
    ['a.ndjson', '{"say":"x"}\n\n{"say":', 'line 3: '],
    ['a.ndjson', '{"say":"x"}\n{"sya":"y"}', "line 2: there is no key 'sya'"],
    ['a.yaml', 'scripts: []\n', "line 1: there is no key 'scripts'; there are: shared, script"],
    [
      'a.yaml',
      '- say: x\n  expect:\n    intend: y\n',
      "line 3: there is no key 'intend'; there are: intent, ",
    ],
  ])('refuses %s with the line of the problem when it is opened: %j', async (name, text, message) => {
    const device = await deviceWith({ [name]: text })
    await expect(device.open('/a', O_RDWR, ctx)).rejects.toMatchObject({
      code: 'EINVAL',
      path: `/scripts/${name}`,
      detail: expect.stringContaining(message),
    })
  })

  it('can be cancelled during a delay', async () => {
    const { ask } = await player(await deviceWith({ 'a.yaml': '- { say: x, delay_ms: 100000 }' }), '/a')
    const abort = new AbortController()
    const answer = ask('x', {}, abort.signal)
    abort.abort(new Error('killed'))
    await expect(answer).rejects.toThrow('killed')
    const late = await player(await deviceWith({ 'a.yaml': '- { say: x, delay_ms: 100000 }' }), '/a')
    await expect(late.ask('x', { timeout_ms: 1 })).rejects.toMatchObject({ code: 'ETIMEDOUT' })
  })

  it('plays the example of the guide', async () => {
    const guide = await readFile(new URL('../../../../docs/guide/providers.md', import.meta.url), 'utf8')
    const [, example = ''] = guide.match(/^## Play a script$.*?^```yaml\n(.*?)^```/ms) ?? []
    const { ask } = await player(await deviceWith({ 'planner.yaml': example }), '/planner')
    await ask('go', { intent: 'the release notes', tools: [{ name: 'task_create' }] })
    await ask('The plan is noted: 2 steps.')
    expect(await ask('{"id":"t1"}')).toMatchObject({ content: expect.stringContaining('do task t1') })
    expect(await ask('it is done')).toMatchObject({ content: 'All done.' })
  })

  it('refuses an invalid request', async () => {
    const { ask } = await player(await deviceWith({ 'a.yaml': '- say: x' }), '/a')
    for (const [bad, message] of [
      [{ messages: [] }, 'the request is empty'],
      [{ messages: [{ role: 'nobody', content: '' }] }, "'messages.0.role'"],
      [{ model: '--help' }, "'model'"],
      [{ timeout_ms: 2 ** 40 }, "'timeout_ms'"],
    ] as const) {
      await expect(ask('x', bad)).rejects.toMatchObject({
        code: 'EINVAL',
        detail: expect.stringContaining(message),
      })
    }
    expect(await ask('x')).toMatchObject({ content: 'x' })
  })

  it('plays the same from YAML and from lines of JSON', async () => {
    const saying = fc.oneof(fc.string(), fc.record({ action: fc.constant('complete'), result: fc.string() }))
    const entries = fc.array(fc.record({ say: saying, tokens: fc.nat() }), { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(entries, async (script) => {
        const ndjson = script.map((entry) => JSON.stringify(entry)).join('\n')
        const device = await deviceWith({ 'l.ndjson': ndjson, 'y.yaml': JSON.stringify(script, null, 1) })
        const [lines, yaml] = [await player(device, '/l'), await player(device, '/y')]
        for (const { say, tokens } of script) {
          const content = typeof say === 'string' ? say : JSON.stringify(say)
          const expected = { content, tokens_used: tokens }
          expect([await lines.ask('x'), await yaml.ask('x')]).toEqual([expected, expected])
        }
      }),
      { numRuns: 30 },
    )
  })
})
