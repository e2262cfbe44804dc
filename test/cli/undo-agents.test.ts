import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { programFile } from '../support/program-file.ts'
import { root } from '../support/run-node.ts'
import { whyNotNobody } from '../support/tools.ts'
import { FakeAgent } from './fake-agent.ts'
import { Cli } from './run-cli.ts'

const NOBODY = 65_534

/** Reads the events that a real program sent, for another directory. */
function readEvents(program: string, project: string): string[] {
  const text = readFileSync(join(root, `test/support/hook-events/${program}.jsonl`), 'utf8')
  return text
    .trim()
    .split('\n')
    .map((line) => line.replaceAll('PROJECT', project))
}

const ISO_TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)

describe('coppice undo', { timeout: 60_000 }, () => {
  it('undoes edits, shell commands and a checkout to the byte, and redoes them', async () => {
    const agent = new FakeAgent()
    agent.git('init', '-q', '-b', 'main')
    for (const name of ['src/cart.ts', 'src/price.ts', 'old.txt', '.gitignore'])
      agent.write(name, name === '.gitignore' ? 'node_modules/\n*.log\n' : `${name}\n`)
    agent.git('add', '.')
    agent.git('commit', '-qm', 'start')
    agent.git('branch', 'other')
    agent.write('mine.log', 'ignored, and not committed\n')
    const before = agent.read()
    const status = agent.git('status', '--porcelain')
    await agent.send('SessionStart', { source: 'startup' })
    await agent.send('UserPromptSubmit', { prompt: 'Break things.' })
    await agent.edit('src/cart.ts', 'edited\n')
    await agent.shell('mv old.txt moved.txt; rm -r src; mkdir -p new/deep; echo x > new/deep/x; rm mine.log')
    await agent.shell('git -c user.name=a -c user.email=a@b.c commit -qam gone; git checkout -q other')
    await agent.send('Stop')
    const after = agent.read()
    const listed = await agent.cli.ok('timeline')
    expect(listed).toMatch(/^1 +\d\d:\d\d {2}claude: Break things\.$/m)
    expect(listed).toMatch(/^ {2}1\.1 +Write .*cart\.ts$/m)
    expect(listed).toContain('1.2    Bash mv old.txt')
    expect(listed).toContain('D /old.txt')
    expect(listed).toContain('  git: main moved\n')
    expect(listed).not.toContain('/.git/')
    expect(await agent.cli.run(['timeline', '--last', '0'])).toMatchObject({ code: 2, stdout: '' })
    const undone = await agent.cli.ok('undo')
    expect(undone).toContain('A /mine.log')
    expect(undone).toContain('\ngit: main moved\n')
    expect(undone).toContain('of prompt 1; take that back with: coppice redo')
    expect(agent.read()).toEqual(before)
    expect(agent.git('status', '--porcelain')).toBe(status)
    expect(agent.git('rev-parse', '--abbrev-ref', 'HEAD').trim()).toBe('main')
    expect(await agent.cli.ok('timeline')).toContain('(undone)')
    await agent.cli.ok('redo')
    expect(agent.read()).toEqual(after)
    expect(agent.git('rev-parse', '--abbrev-ref', 'HEAD').trim()).toBe('other')
  })

  it('shows the commits of a call that changes many files', async () => {
    const agent = new FakeAgent()
    agent.git('init', '-q', '-b', 'main')
    await agent.send('UserPromptSubmit', { prompt: 'Add files.' })
    const commit = 'git -c user.name=a -c user.email=a@b.c commit -qm many'
    await agent.shell(`touch 1 2 3 4 5 6 7; git add .; ${commit}`)
    expect(await agent.cli.ok('timeline')).toMatch(/A \/5\n +… and 2 changes more\n +git: main created/)
  })

  it('refuses where a person changed a file, and merges when asked', async () => {
    const agent = new FakeAgent()
    agent.write('a', 'one\ntwo\nthree\n')
    agent.write('b', 'b\n')
    await agent.send('UserPromptSubmit', { prompt: 'go' })
    await agent.shell('sed -i s/one/ONE/ a; echo agent > b')
    await agent.send('Stop')
    agent.write('a', 'ONE\ntwo\nthree\nmine\n')
    const refused = await agent.cli.run(['undo'])
    expect(refused).toMatchObject({ code: 3, stdout: '' })
    expect(refused.stderr).toContain('C /a was changed by you since')
    expect(refused.stderr).toContain('coppice undo --merge')
    expect(agent.read()).toEqual({ '/a': 'ONE\ntwo\nthree\nmine\n', '/b': 'agent\n' })
    const dry = await agent.cli.ok('undo', '1.1', '--dry-run', '--', 'b')
    expect(dry).toBe('M /b\nwould write 1 change\n')
    await agent.cli.ok('undo', '--merge')
    expect(agent.read()).toEqual({ '/a': 'one\ntwo\nthree\nmine\n', '/b': 'b\n' })
  })

  it('says that nothing is recorded, also without a home', async () => {
    const cli = new Cli()
    for (const command of ['timeline', 'undo', 'redo'])
      expect(await cli.run([command, '--home', join(cli.scratch, 'none')])).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(
          /^coppice: nothing is recorded for .* yet: .*: coppice hooks install claude; to undo the changes of a fork: coppice apply --undo\n$/,
        ),
      })
  })

  it('says what it undoes of other prompts, and when nothing is left to write', async () => {
    const agent = new FakeAgent()
    agent.write('a', 'start\n')
    for (const text of ['one', 'two']) {
      await agent.send('UserPromptSubmit', { prompt: text })
      await agent.shell(`echo ${text} > a`)
      await agent.send('Stop')
    }
    expect(await agent.cli.ok('undo', '1', '--dry-run')).toContain(
      'would write 1 change: undoes them, and what 2.1 changed later in the same files\n',
    )
    expect(await agent.cli.ok('undo', '1')).toContain(
      'undid 1 change of prompt 1, and what 2.1 changed later in the same files; take that back with: coppice redo\n',
    )
    await agent.cli.ok('redo')
    agent.write('a', 'one\n')
    expect(await agent.cli.ok('undo')).toBe(
      'nothing was written: files are already as before prompt 2; take that back with: coppice redo\n',
    )
  })

  it('names the same prompt and paths in its hints', async () => {
    const agent = new FakeAgent()
    const lines = Array.from({ length: 20 }, (_, index) => `${index + 1}\n`).join('')
    for (const name of ['a', 'b c']) {
      agent.write(name, lines)
      await agent.send('UserPromptSubmit', { prompt: 'go' })
      await agent.shell(`sed -i s/^3$/agent/ '${name}'`)
      await agent.send('Stop')
      agent.write(name, lines.replace('3\n', 'agent\n').replace('17\n', 'mine\n'))
    }
    const { stderr } = await agent.cli.run(['undo', '1'])
    expect(stderr).toContain('with: coppice undo 1 --merge\n')
    await agent.cli.ok('undo', '1', '--merge')
    expect(agent.read()['/a']).toBe(lines.replace('17\n', 'mine\n'))
    const { stderr: second } = await agent.cli.run(['undo', '--last', '2', '--', 'b c'])
    expect(second).toContain("with: coppice undo --last 2 --merge -- 'b c'\n")
  })

  it.each([
    ['Bash', /C \/a changed after \d\.1 Bash began, which did not finish/],
    ['x\u001b[2J', /C \/a "changed after \d\.1 x\\033\[2J began, which did not finish/],
  ])('undoes what an agent did that was killed in a call of %j', async (tool_name, reason) => {
    const agent = new FakeAgent()
    agent.write('a', 'one\n')
    await agent.send('UserPromptSubmit', { prompt: 'go' })
    // The hook's parent is the agent: a process that ends before the command is done.
    const event = JSON.stringify({
      session_id: 's2',
      cwd: agent.project,
      hook_event_name: 'PreToolUse',
      tool_name,
      tool_input: { command: 'x' },
      tool_use_id: '9',
    })
    const script = `const { execFileSync } = require('node:child_process')
      execFileSync(process.execPath, [${JSON.stringify(join(root, 'bin/coppice.js'))}, 'hook', 'claude'], { input: ${JSON.stringify(event)} })
      require('node:fs').writeFileSync('a', 'half')
      process.kill(process.pid, 'SIGKILL')`
    const env = { ...process.env, NODE_OPTIONS: '', COPPICE_HOME: agent.cli.home }
    const killed = spawn(process.execPath, ['-e', script], { cwd: agent.project, env })
    await once(killed, 'close')
    const refused = await agent.cli.run(['undo'])
    expect(refused.code).toBe(3)
    expect(refused.stderr).toMatch(reason)
    await agent.cli.ok('undo', '--unfinished')
    expect(agent.read()).toEqual({ '/a': 'one\n' })
  })

  it.skipIf(whyNotNobody() !== undefined)(
    'undoes and redoes changes in directories without write permission',
    async () => {
      const agent = new FakeAgent(new Cli(NOBODY))
      const own = `chown -R ${NOBODY} .`
      for (const name of ['a', 'mod/f', 'mod/g']) agent.write(name, 'old\n')
      await agent.shell(`${own}; chmod 555 mod`)
      const before = agent.read()
      await agent.send('UserPromptSubmit', { prompt: 'go' })
      await agent.shell(
        `echo new > a; echo new > mod/f; rm mod/g; mkdir new; echo n > new/n; ${own}; chmod 555 new`,
      )
      const after = agent.read()
      const modeOf = (name: string) => lstatSync(join(agent.project, name)).mode & 0o7777
      await agent.cli.ok('undo')
      expect(agent.read()).toEqual(before)
      expect(existsSync(join(agent.project, 'new'))).toBe(false)
      await agent.cli.ok('redo')
      expect(agent.read()).toEqual(after)
      expect([modeOf('mod'), modeOf('new')]).toEqual([0o555, 0o555])
    },
  )

  it.each([2, 4, 6, 8])('leaves nothing half undone when it is killed at step %i', async (step) => {
    const agent = new FakeAgent()
    for (const name of ['a', 'b', 'c']) agent.write(name, 'old\n')
    const before = agent.read()
    await agent.send('UserPromptSubmit', { prompt: 'go' })
    await agent.shell('echo new > a; echo new > b; rm c; echo d > d')
    const after = agent.read()
    const program = programFile('killed-undo')
    const words = [program, agent.cli.home, agent.project, String(step)]
    const env = { ...process.env, NODE_OPTIONS: '' }
    const [, signal] = await once(spawn(process.execPath, words, { env }), 'close')
    expect(signal).toBe('SIGKILL')
    await agent.send('UserPromptSubmit', { prompt: 'again' })
    expect(agent.read()).toEqual(after)
    await agent.cli.ok('undo')
    expect(agent.read()).toEqual(before)
  })

  it.each(['claude', 'codex'])('records the events of the real program: %s', async (program) => {
    const agent = new FakeAgent()
    const { project } = agent
    for (const name of ['notes.txt', 'old.txt', 'a.txt']) agent.write(name, `${name}\n`)
    mkdirSync(join(project, 'sub'))
    const before = agent.read()
    let [calls, done] = [0, 0]
    for (const input of readEvents(program, project)) {
      const { hook_event_name: event } = JSON.parse(input)
      if (event === 'PreToolUse') calls++
      // The changes between the events are this test's own.
      if (event === 'PostToolUse' && done++ === 0) {
        agent.write('made.txt', 'made\n')
        renameSync(join(project, 'old.txt'), join(project, 'moved.txt'))
      }
      const run = await agent.cli.run(['hook', program], { input })
      expect(run).toEqual({ code: 0, stdout: '', stderr: '' })
    }
    expect(calls).toBeGreaterThan(2)
    expect(await agent.cli.json('timeline')).toMatchObject({
      items: [
        { kind: 'prompt', time: ISO_TIME, prompt: 1, agent: program, text: 'Change things.' },
        { by: 'agent', time: ISO_TIME, call: { prompt: 1, number: 1, tool: 'Bash' } },
      ],
    })
    await agent.cli.ok('undo')
    expect(agent.read()).toEqual(before)
  })

  it('escapes the name of a tool, which an agent chooses', async () => {
    const agent = new FakeAgent()
    agent.write('a', 'one\n')
    await agent.send('UserPromptSubmit', { prompt: 'go' })
    const fields = { tool_name: 'x\u001b]0;title\u0007', tool_input: { command: 'x' }, tool_use_id: '1' }
    await agent.send('PreToolUse', fields)
    agent.write('a', 'two\n')
    await agent.send('PostToolUse', fields)
    expect(await agent.cli.ok('timeline')).toContain('1.1    "x\\033]0;title\\007"')
  })

  it('never stops an agent, and lists failed hooks', async () => {
    const agent = new FakeAgent()
    agent.write('a', 'one\n')
    mkdirSync(agent.cli.home)
    writeFileSync(join(agent.cli.home, 'config.toml'), '[undo]\nexclude = 1\n')
    await agent.send('UserPromptSubmit', { prompt: 'go' })
    rmSync(join(agent.cli.home, 'config.toml'))
    await agent.send('UserPromptSubmit', { prompt: 'again' })
    expect(await agent.cli.ok('timeline')).toContain("claude's hook failed: ")
    expect(await agent.cli.run(['hook', 'claude'], { input: 'no JSON' })).toMatchObject({
      code: 0,
      stdout: '',
    })
  })

  it('takes an event that cannot be read without a word', () => {
    const { cli } = new FakeAgent()
    const hook = `exec ${process.execPath} ${join(root, 'bin/coppice.js')} hook claude < ${cli.scratch} 2>&1`
    expect(execFileSync('sh', ['-c', hook], { encoding: 'utf8' })).toBe('')
  })

  it('installs hooks that a shell can run, and removes them', async () => {
    const { cli, project } = new FakeAgent()
    const user = join(cli.scratch, 'user home')
    mkdirSync(join(user, '.claude'), { recursive: true })
    const settings = join(user, '.claude/settings.json')
    writeFileSync(settings, '{"model":"opus"}')
    chmodSync(settings, 0o600)
    const env = { HOME: user, CLAUDE_CONFIG_DIR: '' }
    const inHome = { env: { ...env, HOME: cli.files } }
    expect(await cli.run(['hooks', 'install', 'claude', '--project'], inHome)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('leave it out to install the hooks for all projects'),
    })
    expect((await cli.run(['hooks', 'install', 'claude'], { env })).code).toBe(0)
    const { hooks } = JSON.parse(readFileSync(settings, 'utf8'))
    const { command } = hooks.UserPromptSubmit[0].hooks[0]
    const input = JSON.stringify({
      session_id: 's',
      cwd: project,
      hook_event_name: 'UserPromptSubmit',
      prompt: 'go',
    })
    expect(execFileSync('sh', ['-c', command], { input, encoding: 'utf8' })).toBe('')
    expect(await cli.ok('timeline')).toContain('claude: go')
    const listed = await cli.run(['hooks', 'list'], { env })
    expect(listed.stdout).toMatch(/claude +you +installed/)
    expect((await cli.run(['hooks', 'remove', 'claude'], { env })).code).toBe(0)
    expect(readFileSync(settings, 'utf8')).toBe('{"model":"opus"}')
    expect(existsSync(`${settings}.before-coppice`)).toBe(false)
  })
})
