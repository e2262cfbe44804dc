import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { type Home, openHome, type Vault } from '../../src/backends/vault/index.ts'
import { append, readText } from '../../src/vfs/index.ts'
import { DaemonCli } from '../cli/daemon-cli.ts'
import { whyNoMount } from '../fuse/mounted-vault.ts'
import { addToFigure } from '../support/figures.ts'
import { PATIENCE_MS, scaled } from '../support/scale.ts'

const ROUNDS = scaled(4, 60)
/** A program through a mount and the library do far more than a command that starts anew each time. */
const LINES_PER_ROUND = 25

/** A line of the log that every face appends to: who wrote it, and its number. */
type Line = `${string} ${number}`

/** One home in use by a mount, the library, the command line, the daemon and gc at once. */
class BusyHome extends DaemonCli {
  readonly place: string = join(this.scratch, 'place')

  static async create(): Promise<BusyHome> {
    const cli = new BusyHome()
    mkdirSync(cli.place)
    await cli.ok('vault', 'create', 'base')
    await cli.ok('write', '/log', '--text', 'start 0', '--vault', 'base')
    const server = cli.start(['mount', 'base', cli.place])
    onTestFinished(async () => {
      server.kill('SIGTERM')
      if (server.exitCode === null) await once(server, 'exit')
    })
    const [said] = await Promise.race([once(server.stdout, 'data'), once(server.stderr, 'data')])
    expect(String(said)).toContain('is mounted on')
    return cli
  }

  /** A shell appends to the log through the mount, and saves a file as editors do. */
  async appendByShell(round: number): Promise<Line[]> {
    const numbers = numbersOf(round)
    // One descriptor for all lines: its place in the file is older than what others append meanwhile.
    const script = ['exec 3>> log', ...numbers.map((number) => `echo "shell ${number}" >&3`)]
    const save = `mkdir -p saved && cp log saved/.new && mv saved/.new saved/${round}`
    const shell = spawn('sh', ['-ec', [...script, save].join('\n')], { cwd: this.place, stdio: 'inherit' })
    const [code] = await once(shell, 'exit')
    expect(code).toBe(0)
    return numbers.map((number): Line => `shell ${number}`)
  }

  async appendByCommand(round: number): Promise<Line[]> {
    await this.ok('write', '/log', '--append', '--text', `command ${round}`, '--vault', 'base')
    return [`command ${round}`]
  }

  /** An agent writes a file in its fork, which is merged and dropped. */
  async mergeAgent(round: number): Promise<void> {
    const input = { content: `agent ${round}\n` }
    const script = this.script(
      { say: { action: 'tool_call', tool: `/dev/fs/agent-${round}`, input } },
      { say: 'Done.' },
    )
    const spawned = ['spawn', 'write', '--script', script, '--vault', 'base', '--follow']
    await this.ok(...spawned)
    const processes: { pid: number; fork: string }[] = JSON.parse(await this.ok('ps', '--all', '--json'))
    const { fork } = processes.toSorted((one, other) => other.pid - one.pid)[0] ?? { fork: '' }
    await this.ok('merge', fork, 'base')
    await this.ok('drop', fork)
  }
}

function numbersOf(round: number): number[] {
  return Array.from({ length: LINES_PER_ROUND }, (_, index) => round * LINES_PER_ROUND + index)
}

async function appendByLibrary(vault: Vault, round: number): Promise<Line[]> {
  const numbers = numbersOf(round)
  for (const number of numbers) await append(vault, '/log', `library ${number}\n`)
  return numbers.map((number): Line => `library ${number}`)
}

/** Reads the whole vault and collects what nothing refers to, until the others are done. */
async function walkAndCollect(home: Home, vault: Vault, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await Promise.all([Array.fromAsync(vault.walk('/')), home.gc()])
  }
}

const reason = whyNoMount()
it.skipIf(reason !== undefined)(
  `a mount, the library, the command line, the daemon and gc lose nothing of each other${reason ? `: ${reason}` : ''}`,
  { timeout: PATIENCE_MS },
  async () => {
    const busy = await BusyHome.create()
    await using home = await openHome({ path: busy.home })
    const vault = await home.vault('base')
    const acknowledged: Line[] = ['start 0']
    const repeat = async (work: (round: number) => Promise<Line[]>) => {
      for (let round = 0; round < ROUNDS; round++) acknowledged.push(...(await work(round)))
    }
    const merges = async () => {
      for (let round = 0; round < ROUNDS; round++) await busy.mergeAgent(round)
    }
    let isOver = false
    const collected = walkAndCollect(home, vault, () => isOver)
    const workers = [
      repeat((round) => busy.appendByShell(round)),
      repeat((round) => busy.appendByCommand(round)),
      repeat((round) => appendByLibrary(vault, round)),
      merges(),
    ]
    await Promise.all(workers).finally(() => {
      isOver = true
    })
    await collected

    const log = await readText(vault, '/log')
    expect(log.trimEnd().split('\n').toSorted()).toEqual(acknowledged.toSorted())
    addToFigure('facesAppends', acknowledged.length)
    expect(readFileSync(join(busy.place, 'log'), 'utf8')).toBe(log)
    expect(await busy.ok('cat', '/log', '--vault', 'base')).toBe(log)
    const rounds = Array.from({ length: ROUNDS }, (_, round) => round)
    for (const round of rounds) expect(await readText(vault, `/agent-${round}`)).toBe(`agent ${round}\n`)
    expect(readdirSync(join(busy.place, 'saved')).toSorted()).toEqual(rounds.map(String).toSorted())
    expect((await home.fsck()).damaged).toEqual([])
  },
)
