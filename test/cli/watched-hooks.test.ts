import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { WatcherStatus } from '../../src/timeline/watch/index.ts'
import { FakeAgent } from './fake-agent.ts'
import { Cli } from './run-cli.ts'

/** So many names of this length make a directory large. */
const FILES = 700
const NAME = 'x'.repeat(200)

/** An agent in a directory that is large enough to be watched. */
class LargeProjectAgent extends FakeAgent {
  constructor(cli: Cli = new Cli(), project?: string) {
    super(cli, project)
    for (let file = 0; file < FILES; file++) this.write(`many/${NAME}${file}`, '')
  }

  get runDirectory(): string {
    return join(this.cli.home, 'run')
  }

  /** Sends events that change nothing. The first one records the directory. */
  async work(): Promise<void> {
    await this.send('SessionStart')
    await this.send('UserPromptSubmit', { prompt: 'Go.' })
  }

  async findWatcher(): Promise<WatcherStatus | undefined> {
    const { watcher }: { watcher?: WatcherStatus } = JSON.parse(
      await this.cli.ok('daemon', 'status', '--json'),
    )
    return watcher
  }

  /** Waits for a watcher that is not one of these. */
  async waitForWatcher(...others: readonly number[]): Promise<number> {
    await expect.poll(() => this.findWatcher(), { timeout: 20_000 }).toBeDefined()
    const { pid = 0 } = (await this.findWatcher()) ?? {}
    expect(others).not.toContain(pid)
    return pid
  }

  /** Sends events until a hook has an answer about the whole directory. */
  async waitForWatch(): Promise<void> {
    const found = { directory: this.project, state: 'watched' }
    await expect
      .poll(() => this.send('PreToolUse').then(() => this.findWatcher()), { timeout: 20_000 })
      .toMatchObject({ directories: expect.arrayContaining([found]) })
  }
}

/** Lists the processes whose command line has a text. */
function listProcesses(text: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && readCommandLine(pid).includes(text))
}

function readCommandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
  } catch {
    // It has ended.
    return ''
  }
}

describe.runIf(process.platform === 'linux')('hooks in a large directory', { timeout: 60_000 }, () => {
  it('start a watcher, and undo to the byte with it, and after it was killed', async () => {
    const agent = new LargeProjectAgent()
    agent.write('src/a.ts', 'a\n')
    const before = agent.read()
    await agent.work()
    const pid = await agent.waitForWatcher()
    await agent.waitForWatch()
    await agent.edit('src/a.ts', 'edited\n')
    await agent.shell('mkdir -p new/deep; echo 1 > new/deep/x')
    await agent.shell('echo 2 >> new/deep/x; mv new moved')
    const listed = await agent.cli.ok('timeline')
    for (const line of ['M /src/a.ts', 'A /new/deep/x', 'A /moved']) expect(listed).toContain(line)
    await agent.cli.ok('undo')
    expect(agent.read()).toEqual(before)
    process.kill(pid, 'SIGKILL')
    await agent.edit('src/a.ts', 'again\n')
    await agent.waitForWatcher(pid)
    await agent.cli.ok('undo')
    expect(agent.read()).toEqual(before)
  })

  it('start one watcher for all directories of a home, with nothing of the environment', async () => {
    const agent = new LargeProjectAgent()
    const other = new LargeProjectAgent(agent.cli, 'other')
    for (const each of [agent, other]) await each.send('SessionStart')
    await Promise.all([agent, other, agent, other].map((each) => each.send('PreToolUse')))
    const pid = await agent.waitForWatcher()
    await agent.waitForWatch()
    await other.waitForWatch()
    expect(listProcesses(`watcher-process.js\0${agent.cli.home}`)).toEqual([pid])
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).toBe('')
    const status = await agent.cli.ok('daemon', 'status')
    expect(status).toContain(
      `the watcher of hooks runs as ${pid}, watches 2 directories, and stops after 30m`,
    )
    expect(await agent.cli.ok('daemon', 'stop')).toBe('stopped the watcher; no daemon runs\n')
    expect(await agent.findWatcher()).toBeUndefined()
  })

  it('start none in a small directory, nor where that is turned off', async () => {
    const small = new FakeAgent()
    for (const event of ['SessionStart', 'PreToolUse', 'Stop']) await small.send(event)
    expect(existsSync(join(small.cli.home, 'run'))).toBe(false)
    const agent = new LargeProjectAgent()
    mkdirSync(agent.cli.home)
    const config = join(agent.cli.home, 'config.toml')
    writeFileSync(config, '[undo]\nwatch = false\n')
    await agent.work()
    await agent.work()
    expect(existsSync(agent.runDirectory)).toBe(false)
    // The kept settings are those of the file.
    writeFileSync(config, '[undo]\nwatch = true\n')
    await agent.work()
    await agent.waitForWatcher()
  })

  it('record where a watcher cannot even be asked', async () => {
    const agent = new LargeProjectAgent()
    mkdirSync(agent.cli.home)
    symlinkSync('nowhere', agent.runDirectory)
    await agent.work()
    await agent.edit('many/new', 'x\n')
    const listed = await agent.cli.ok('timeline')
    expect(listed).toContain('A /many/new')
    expect(listed).not.toContain('failed')
  })

  it('record without a watcher that cannot start, and try it again only later', async () => {
    const agent = new LargeProjectAgent()
    const obstacle = join(agent.runDirectory, 'watcher.lock')
    mkdirSync(obstacle, { recursive: true })
    await agent.work()
    const note = join(agent.runDirectory, 'watcher-start')
    await expect
      .poll(() => agent.cli.ok('daemon', 'status'), { timeout: 20_000 })
      .toContain('the watcher of hooks did not start: ')
    rmdirSync(obstacle)
    const reason = readFileSync(note, 'utf8')
    await agent.edit('many/new', 'x\n')
    expect(readFileSync(note, 'utf8')).toBe(reason)
    expect(await agent.cli.ok('timeline')).toContain('A /many/new')
    utimesSync(note, 0, 0)
    await agent.work()
    await agent.waitForWatcher()
    expect(existsSync(note)).toBe(false)
  })
})
