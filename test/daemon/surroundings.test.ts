import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { modelDevice } from '../../src/devices/llm/request/model-device.ts'
import { createJsonRequestFile, type Device, type ModelRequest } from '../../src/kernel/index.ts'
import { readText } from '../../src/vfs/index.ts'
import { LinkedDirectory } from '../../src/workspace/index.ts'
import { call, openScene, type Scene } from '../support/agent-home.ts'

type Answer = string | object
type Play = Readonly<Record<string, readonly Answer[]>>

/** A model that records its requests, and gives the answers that belong to the intent of a process. */
function createModel(play: Play): { readonly device: Device; readonly requests: ModelRequest[] } {
  const requests: ModelRequest[] = []
  const left = new Map(Object.entries(play).map(([intent, answers]) => [intent, [...answers]]))
  const device: Device = {
    match: 'exact',
    open: () =>
      createJsonRequestFile('/dev/llm/test', async (body) => {
        const request = body as ModelRequest
        requests.push(request)
        const answer = left.get(request.intent)?.shift() ?? 'done'
        const isNative = typeof answer === 'object' && 'tool_calls' in answer
        return isNative
          ? { content: '', tokens_used: 1, ...answer }
          : { content: typeof answer === 'string' ? answer : JSON.stringify(answer), tokens_used: 1 }
      }),
  }
  return { device, requests }
}

async function openStage(play: Play): Promise<Scene & { readonly requests: ModelRequest[] }> {
  const { device, requests } = createModel(play)
  const scene = await openScene({}, undefined, {
    providers: { test: device },
    defaults: { provider: 'test' },
  })
  return { ...scene, requests }
}

/** Writes files into the directory of the home. */
function writeFiles({ directory }: Scene, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), text)
  }
}

/** Runs a process on the vault `base` to its end. */
async function run({ agents }: Scene, intent: string, options: object = {}) {
  const { pid } = await agents.spawn({ intent, vault: 'base', ...options })
  return agents.wait(pid)
}

function native(...calls: readonly [name: string, input: object][]): object {
  return { tool_calls: calls.map(([name, input], at) => ({ id: `call-${at}`, name, input })) }
}

const lastMessages = ({ messages }: ModelRequest) => messages.map(({ content }) => content)

describe('the request of a process', () => {
  it('says where it is, and stays below 12,000 characters with the default tools', async () => {
    const stage = await openStage({})
    await (await stage.home.vault('base')).write('/AGENTS.md', 'Use tabs.\n')
    await run(stage, 'look around')
    const [request] = stage.requests
    expect(JSON.stringify(request).length).toBeLessThan(12_000)
    await expect(formatRequest(request)).toMatchFileSnapshot('snapshots/bare-request.md')
  })

  it('contains the instructions of its agent and its skills first', async () => {
    const stage = await openStage({})
    writeFiles(stage, {
      'agents/tester/agent.yaml':
        'description: Tests.\nskills: [pytest]\nmax_steps: 4\ncontext_budget: 5000\n',
      'agents/tester/instructions.md': 'You test what others wrote.\n',
      'skills/pytest/SKILL.md': '---\nname: pytest\ndescription: Runs pytest.\n---\nCall pytest -q.\n',
    })
    await run(stage, 'test it', { agent: 'tester' })
    const [request] = stage.requests
    await expect(formatRequest(request)).toMatchFileSnapshot('snapshots/agent-request.md')
  })

  it('offers further tools once a search found them, or an option or the agent names them', async () => {
    const stage = await openStage({ find: [native(['tool_search', { query: 'fetch a web page' }])] })
    writeFiles(stage, {
      'agents/reader/agent.yaml': 'tools: [/dev/tasks, web_fetch]\n',
      'agents/reader/instructions.md': 'You read.\n',
    })
    await run(stage, 'find')
    await run(stage, 'use', { tools: ['/dev/tasks', 'web_fetch'] })
    await run(stage, 'read', { agent: 'reader' })
    const [before, after, named, ofAgent] = stage.requests.map(({ tools }) => tools.map(({ name }) => name))
    expect(before).not.toContain('web_fetch')
    expect(after).toContain('web_fetch')
    expect(named).toEqual(expect.arrayContaining(['web_fetch', 'task_list']))
    expect(ofAgent).toEqual(named)
  })
})

describe('the tools of a process', () => {
  it('run several native calls of one answer, actions among them', async () => {
    const stage = await openStage({
      work: [
        native(
          ['plan', { steps: ['read', 'write'] }],
          ['file_read', { path: 'notes.txt' }],
          ['file_glob', { pattern: '*.txt' }],
          ['write_file', { path: 'vfs:///shared/found.md', content: 'found' }],
        ),
        native(['complete', { result: 'all done' }]),
      ],
    })
    expect(await run(stage, 'work')).toMatchObject({ exit_code: 0, result: 'all done' })
    const results = stage.requests.at(-1)?.messages.filter(({ role }) => role === 'tool') ?? []
    expect(results.map(({ content }) => content)).toEqual([
      expect.stringContaining('2 steps'),
      expect.stringContaining('begun'),
      expect.stringContaining('notes.txt'),
      expect.stringContaining('vfs:///shared/found.md'),
    ])
    const { fs } = stage.agents.person
    expect(await readText(fs, '/shared/found.md', {}, stage.agents.asPerson)).toBe('found')
  })

  it('asks the model again for an action without what it needs', async () => {
    const stage = await openStage({ work: [native(['spawn', { agent: 'x' }]), 'done'] })
    await run(stage, 'work')
    expect(lastMessages(stage.requests[1] ?? fail())).toContainEqual(
      expect.stringMatching(/Malformed.*intent/),
    )
  })

  it('store a long output of any device, and the record refers to it', async () => {
    const stage = await openStage({ work: [call('shell_exec', { command: 'seq 1 5000' }), 'done'] })
    const { pid } = await run(stage, 'work')
    const answer = lastMessages(stage.requests[1] ?? fail()).at(-1) ?? ''
    expect(answer.length).toBeLessThan(4000)
    expect(answer).toContain('vfs:///sys/tool_cache/agent/')
    const [step] = await stage.agents.steps(pid)
    expect(step?.tool_result.length).toBeLessThan(4000)
  })
})

describe('the children of a process', () => {
  it('begin with its files as they are, and merge into them', async () => {
    const stage = await openStage({
      lead: [
        native(['write_file', { path: 'plan.md', content: 'plan' }]),
        native(['spawn', { intent: 'one', wait: false }], ['spawn', { intent: 'two', wait: false }]),
        native(['wait', { pid: 2 }], ['wait', { pid: 3 }]),
        native(['merge', { pid: 2 }], ['merge', { pid: 3 }]),
        native(['file_glob', { pattern: '*.md' }]),
      ],
      one: [native(['vfs_copy', { src: 'plan.md', dst: 'one.md' }]), 'one is done'],
      two: [native(['vfs_copy', { src: 'plan.md', dst: 'two.md' }]), 'two is done'],
    })
    const { fork } = await run(stage, 'lead')
    const vault = await stage.home.vault(fork ?? fail())
    expect(await Promise.all(['/one.md', '/two.md'].map((path) => readText(vault, path)))).toEqual([
      'plan',
      'plan',
    ])
    const answers = stage.requests.filter(({ intent }) => intent === 'lead').flatMap(lastMessages)
    expect(answers).toContainEqual(expect.stringContaining('one is done'))
  })

  it('name the paths of a conflict, and change nothing', async () => {
    const stage = await openStage({
      lead: [
        native(['spawn', { intent: 'child' }]),
        native(['write_file', { path: 'notes.txt', content: 'mine\n' }]),
        native(['merge', { pid: 2 }]),
        native(['merge', { pid: 2, on_conflict: 'theirs' }]),
      ],
      child: [native(['write_file', { path: 'notes.txt', content: 'theirs\n' }])],
    })
    const { fork } = await run(stage, 'lead')
    const answers = stage.requests.filter(({ intent }) => intent === 'lead').flatMap(lastMessages)
    expect(answers).toContainEqual(expect.stringMatching(/ECONFLICT.*notes\.txt/s))
    expect(await readText(await stage.home.vault(fork ?? fail()), '/notes.txt')).toBe('theirs\n')
  })

  it('exchange messages', async () => {
    const stage = await openStage({
      lead: [
        native(['spawn', { intent: 'child', wait: false }]),
        native(['messages', { wait: true }]),
        native(['wait', { pid: 2 }]),
      ],
      child: [native(['send_message', { to: 1, text: 'half done' }])],
    })
    await run(stage, 'lead')
    const answers = stage.requests.filter(({ intent }) => intent === 'lead').flatMap(lastMessages)
    expect(answers).toContainEqual(expect.stringContaining('{"from":2,"text":"half done"}'))
  })

  it('read the message of a person with a tool that they get with it', async () => {
    const stage = await openStage({
      work: [native(['ask_user', { questions: [{ question: 'Ready?' }] }]), native(['messages', {}])],
    })
    const { agents } = stage
    const { signal } = new AbortController()
    const { pid } = await agents.spawn({ intent: 'work' })
    const asked = await vi.waitUntil(() => agents.tty.pending()[0])
    const message = { to: pid, text: 'skip the slow tests' }
    await agents.call('/dev/children/send_message', message, signal)
    agents.tty.answer(asked.id, ['yes'])
    await agents.wait(pid)
    const [first, second, last] = stage.requests
    expect(first?.tools.map(({ name }) => name)).not.toContain('messages')
    expect(second?.tools.map(({ name }) => name)).toContain('messages')
    expect(last?.messages.at(-1)?.content).toContain('{"from":0,"text":"skip the slow tests"}')
    const log = await Array.fromAsync(agents.logs(pid, false, signal))
    expect(log).toContainEqual(expect.objectContaining({ text: 'message of a person: skip the slow tests' }))
  })

  it('are no business of another process', async () => {
    const stage = await openStage({ other: [native(['wait', { pid: 1 }], ['merge', { pid: 1 }])] })
    await run(stage, 'first')
    await run(stage, 'other')
    const answers = lastMessages(stage.requests.at(-1) ?? fail())
    expect(answers.filter((answer) => /ENOENT.*has no child 1/.test(answer))).toHaveLength(2)
  })
})

/** Formats a request for a snapshot, without what differs from run to run. */
function formatRequest(request: ModelRequest | undefined): string {
  if (request === undefined) fail()
  const tools = request.tools.map(
    ({ name, description, input_schema }) =>
      `## ${name}\n${description}\n\n${JSON.stringify(input_schema, null, 1)}`,
  )
  const messages = request.messages.map(({ role, content }) => `${role}: ${content}`)
  return [request.system_prompt, '# Messages', ...messages, '# Tools', ...tools, ''].join('\n\n')
}

function fail(): never {
  throw new Error('there is no such request')
}

it('text of a model reaches those who follow while it arrives, and actions do not', async () => {
  const isFollowed = Promise.withResolvers<void>()
  const answers = [
    ['{"action":"tool_', 'call","tool":"file_glob","input":{"pattern":"*"}}'],
    ['Hel', 'lo'],
  ]
  const device = modelDevice('/dev/llm/test', () => async (_request, _signal, onText) => {
    await isFollowed.promise
    const pieces = answers.shift() ?? []
    for (const piece of pieces) onText(piece)
    return { content: pieces.join(''), tokens_used: 1 }
  })
  const { agents } = await openScene({}, undefined, {
    providers: { test: device },
    defaults: { provider: 'test' },
  })
  const { pid } = await agents.spawn({ intent: 'greet', vault: 'base' })
  const parts: string[] = []
  for await (const event of agents.logs(pid, true, new AbortController().signal)) {
    if ('is_partial' in event) parts.push(event.text)
    isFollowed.resolve()
  }
  expect(parts).toEqual(['Hel', 'lo'])
  expect(await agents.steps(pid)).toMatchObject([{ action: 'tool_call' }, { action: 'text' }])
  const kept = await Array.fromAsync(agents.logs(pid, false, new AbortController().signal))
  expect(kept.filter((event) => 'is_partial' in event)).toEqual([])
})

describe('a process that continues another', () => {
  const play = {
    work: [
      native(['write_file', { path: 'a.txt', content: 'one' }]),
      native(['write_file', { path: 'a.txt', content: 'two' }]),
      'finished',
    ],
  }

  it('has the conversation and the files after the step it starts from', async () => {
    const stage = await openStage(play)
    const { pid: first } = await run(stage, 'work')
    const { fork, state } = await run(stage, 'now differently', { from: { pid: first, step: 1 } })
    expect(state).toBe('ended')
    expect(await readText(await stage.home.vault(fork ?? fail()), '/a.txt')).toBe('one')
    const messages = lastMessages(stage.requests.at(-1) ?? fail())
    expect(messages[0]).toBe('work')
    expect(messages.at(-1)).toBe('now differently')
    expect(messages.join('\n')).toContain('a.txt')
    expect(messages.join('\n')).not.toContain('finished')
  })

  it('goes on after the last step of one that failed, and of no other', async () => {
    const repeated = native(['write_file', { path: 'a.txt', content: 'two' }])
    const stage = await openStage({ work: [...play.work.slice(0, 2), ...Array(4).fill(repeated)] })
    const { pid, exit_code } = await run(stage, 'work')
    expect(exit_code).toBe(1)
    const resumed = await stage.agents.resume(pid)
    const { fork } = await stage.agents.wait(resumed.pid)
    expect(await readText(await stage.home.vault(fork ?? fail()), '/a.txt')).toBe('two')
    const messages = lastMessages(stage.requests.at(-1) ?? fail())
    expect(messages.filter((text) => text.includes('a.txt')).length).toBeGreaterThan(4)
    await expect(stage.agents.spawn({ intent: 'x', from: { pid, step: 9 } })).rejects.toThrow('no step 9')
    await expect(stage.agents.resume(77)).rejects.toMatchObject({ code: 'ENOENT' })
  })
})

it('a process can start from several others, and a conflict of theirs names its paths', async () => {
  const write = (path: string, content: string) => [native(['write_file', { path, content }])]
  const stage = await openStage({
    a: write('a.txt', 'of a'),
    b: write('b.txt', 'of b'),
    c: write('a.txt', 'of c'),
  })
  const [a, b, c] = await Promise.all(
    ['a', 'b', 'c'].map(async (name) => (await run(stage, name)).fork ?? fail()),
  )
  const { fork } = await run(stage, 'all', { vault: a, merge: [b] })
  const vault = await stage.home.vault(fork ?? fail())
  expect(await Promise.all(['/a.txt', '/b.txt'].map((path) => readText(vault, path)))).toEqual([
    'of a',
    'of b',
  ])
  await expect(run(stage, 'none', { vault: a, merge: [b, c] })).rejects.toThrow(/a\.txt/)
})

describe('a process on a directory', () => {
  /** Creates a project with a package and a secret. */
  function createProject(): string {
    const project = realpathSync(mkdtempSync(join(tmpdir(), 'coppice-project-')))
    onTestFinished(() => rmSync(project, { recursive: true, force: true }))
    mkdirSync(join(project, 'node_modules/left-pad'), { recursive: true })
    writeFileSync(join(project, 'node_modules/left-pad/index.js'), 'module.exports = 1\n')
    writeFileSync(join(project, 'AGENTS.md'), 'Use tabs.\n')
    writeFileSync(join(project, 'notes.txt'), 'one\n')
    writeFileSync(join(project, 'other.txt'), 'other\n')
    return project
  }

  it('works in a fork with nothing imported, and its children go on from what it sees', async () => {
    const project = createProject()
    const stage = await openStage({
      lead: [
        native(['write_file', { path: 'notes.txt', content: 'two\n' }]),
        native(['shell_exec', { command: 'cat notes.txt; ls node_modules; rm other.txt; echo made > made' }]),
        native(['spawn', { intent: 'child' }]),
        native(['merge', { pid: 2 }]),
      ],
      child: [
        native(['shell_exec', { command: 'cat notes.txt made; ls; echo child > child.txt' }]),
        native(['write_file', { path: 'notes.txt', content: 'three\n' }]),
      ],
    })
    const { fork, vault } = await run(stage, 'lead', { vault: project })
    expect(vault).toBe(project)
    const [request] = stage.requests
    expect(JSON.stringify(request)).toContain(`a fork of the directory ${project}`)
    expect(JSON.stringify(request)).toContain('Use tabs.')
    const of = (name: string) => stage.requests.filter(({ intent }) => intent === name).flatMap(lastMessages)
    expect(of('lead')).toContainEqual(expect.stringContaining('two\\nleft-pad'))
    expect(of('child')).toContainEqual(expect.stringContaining('two\\nmade'))
    expect(of('child').join()).not.toContain('other.txt')
    expect(readFileSync(join(project, 'notes.txt'), 'utf8')).toBe('one\n')

    const link = new LinkedDirectory(stage.home, project)
    const lead = await link.getFork(fork ?? fail())
    expect((await link.listChanges(lead)).map(({ path }) => path)).toEqual([
      '/child.txt',
      '/made',
      '/notes.txt',
      '/other.txt',
    ])
    await link.apply(lead)
    expect(readFileSync(join(project, 'notes.txt'), 'utf8')).toBe('three\n')
    expect(existsSync(join(project, 'other.txt'))).toBe(false)
  })

  it('is continued from a step, and checked on a copy', async () => {
    const project = createProject()
    const write = (content: string) => native(['write_file', { path: 'notes.txt', content }])
    const stage = await openStage({ first: [write('two\n'), write('three\n')], second: [] })
    const first = await run(stage, 'first', { vault: project })
    const second = await run(stage, 'second', { from: { pid: first.pid, step: 1 }, vault: project })
    const { signal } = new AbortController()
    const check = (pid: number) => stage.agents.check(pid, 'cat notes.txt; echo x > notes.txt', signal)
    expect(await check(first.pid)).toMatchObject({ exit_code: 0, output: 'three\n', changes: 1 })
    expect(await check(second.pid)).toMatchObject({ exit_code: 0, output: 'two\n', changes: 1 })
    const forks = await new LinkedDirectory(stage.home, project).listForks()
    expect(forks.map(({ name }) => name).sort()).toEqual([first.fork, second.fork].sort())
  })
})
