import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const PROGRAMS = fileURLToPath(new URL('node_modules/.bin', import.meta.url))
const COPPICE = fileURLToPath(new URL('../bin/coppice.js', import.meta.url))

/** Time to stop a daemon. */
const STOP_MS = 20_000

/** Output and exit code of a program. */
export interface Finished {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A temporary user: a directory for everything, an environment without anything of the real one. */
export class Stage implements AsyncDisposable {
  readonly directory: string
  readonly project: string
  readonly env: Readonly<Record<string, string>>
  readonly #signal: AbortSignal

  private constructor(directory: string, variables: Readonly<Record<string, string>>, signal: AbortSignal) {
    this.directory = directory
    this.project = join(directory, 'project')
    this.#signal = signal
    this.env = {
      PATH: [
        PROGRAMS,
        join(directory, 'bin'),
        dirname(process.execPath),
        '/usr/local/bin',
        '/usr/bin',
        '/bin',
      ].join(delimiter),
      HOME: directory,
      TMPDIR: directory,
      LANG: 'C.UTF-8',
      COPPICE_HOME: join(directory, 'coppice'),
      COPPICE_CONTEXT: 'tester',
      ...variables,
    }
  }

  /** Creates a stage with these files as the vault `base`. */
  static async open(
    files: Readonly<Record<string, string | Uint8Array>>,
    variables: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Stage> {
    const directory = await mkdtemp(join(tmpdir(), 'coppice-real-'))
    const stage = new Stage(directory, variables, signal)
    await mkdir(stage.project)
    await mkdir(join(directory, 'bin'))
    const script = `#!/bin/sh\nexec ${process.execPath} ${COPPICE} "$@"\n`
    await writeFile(join(directory, 'bin/coppice'), script, { mode: 0o755 })
    for (const [name, content] of Object.entries(files)) await writeFile(join(stage.project, name), content)
    await stage.coppice('import', stage.project, '--vault', 'base')
    return stage
  }

  /** Runs a coppice command that must succeed; returns its output. */
  async coppice(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.tryCoppice(...args)
    if (code !== 0) throw new Error(`coppice ${args.join(' ')} ended with ${code}: ${stderr}${stdout}`)
    return stdout
  }

  tryCoppice(...args: readonly string[]): Promise<Finished> {
    return this.run(process.execPath, [COPPICE, ...args])
  }

  startCoppice(...args: readonly string[]): ChildProcess {
    return this.#start(process.execPath, [COPPICE, ...args], this.#signal)
  }

  /** Runs a program in the project until it ends. */
  async run(
    program: string,
    args: readonly string[],
    input = '',
    signal: AbortSignal = this.#signal,
  ): Promise<Finished> {
    const child = this.#start(program, args, signal)
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
    const ended = new Promise<number | null>((resolve, reject) => {
      child.once('error', reject).once('close', resolve)
    })
    const { stdout, stderr } = child
    if (stdout === null || stderr === null) throw new Error(`'${program}' has no output`)
    const [out, err, code] = await Promise.all([text(stdout), text(stderr), ended])
    return { code, stdout: out, stderr: err }
  }

  /** Returns the command that starts `coppice mcp` with these arguments. */
  getMcpCommand(...args: readonly string[]): { readonly command: string; readonly args: readonly string[] } {
    return { command: process.execPath, args: [COPPICE, 'mcp', '--vault', 'base', ...args] }
  }

  /** Returns the command lines of processes of this stage that contain a word. */
  async findProcesses(word: string): Promise<string[]> {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
    const found = await Promise.all(pids.map((pid) => this.#readCommand(pid)))
    return found.filter((line) => line.includes(word))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Not with the signal: after the time limit the daemon still has to end.
    await this.run(process.execPath, [COPPICE, 'daemon', 'stop'], '', AbortSignal.timeout(STOP_MS)).catch(
      () => {},
    )
    // Not by Node: a kernel overlay leaves an empty directory that not even its owner may read.
    await this.run('rm', ['-rf', '--', this.directory], '', AbortSignal.timeout(STOP_MS))
  }

  #start(program: string, args: readonly string[], signal: AbortSignal): ChildProcess {
    return spawn(program, args, { cwd: this.project, env: this.env, signal })
  }

  /** Returns the command line of a process of this stage; empty for others and for those that have ended. */
  async #readCommand(pid: string): Promise<string> {
    try {
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8')
      if (!environment.split('\0').includes(`HOME=${this.directory}`)) return ''
      return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ')
    } catch {
      return ''
    }
  }
}
