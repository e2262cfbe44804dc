import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { isCredential } from '../../src/secrets/index.ts'
import { type Run, root } from '../support/run-node.ts'

export interface CliOptions {
  /** Text for standard input; empty when absent. */
  readonly input?: string
  readonly env?: NodeJS.ProcessEnv
  /** Working directory; `files` when absent. */
  readonly cwd?: string
  /** Starts it in a process group of its own. */
  readonly isGroup?: boolean
}

/** The environment without credentials, which commands would report as withheld. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const isPlain = ([name, value = '']: [string, string | undefined]) => !isCredential(name, value)
  return Object.fromEntries(Object.entries(process.env).filter(isPlain))
}

/** The real program on its own home, in a directory that is removed after the test. */
export class Cli {
  readonly scratch: string = mkdtempSync(join(tmpdir(), 'coppice-cli-'))
  readonly home: string = join(this.scratch, 'home')
  /** Files of this machine, for imports and exports. */
  readonly files: string = join(this.scratch, 'files')

  /** The number of the user who runs it; undefined for the current one. */
  readonly user: number | undefined

  constructor(user?: number) {
    this.user = user
    mkdirSync(this.files)
    if (user !== undefined) for (const path of [this.scratch, this.files]) chownSync(path, user, user)
    // A program that ends with the test may still write.
    onTestFinished(() => rmSync(this.scratch, { recursive: true, force: true, maxRetries: 10 }))
  }

  start(
    args: readonly string[],
    { env = {}, cwd = this.files, isGroup = false }: CliOptions = {},
  ): ChildProcessWithoutNullStreams {
    return spawn(process.execPath, [join(root, 'bin/coppice.js'), ...args], {
      cwd,
      detached: isGroup,
      ...(this.user !== undefined && { uid: this.user, gid: this.user }),
      env: {
        ...plainEnvironment(),
        NODE_OPTIONS: '',
        COPPICE_HOME: this.home,
        COPPICE_CONTEXT: 'tester',
        ...env,
      },
    })
  }

  run(args: readonly string[], options: CliOptions = {}): Promise<Run> {
    const child = this.start(args, options)
    const text = { stdout: '', stderr: '' }
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      text.stdout += chunk
    })
    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      text.stderr += chunk
    })
    child.stdin.end(options.input ?? '')
    return new Promise((resolve, reject) => {
      child.on('error', reject)
      child.on('close', (code) => resolve({ code, ...text }))
    })
  }

  /** Runs a command that must succeed without messages; returns its output. */
  async ok(...args: string[]): Promise<string> {
    const run = await this.run(args)
    expect(run, args.join(' ')).toMatchObject({ code: 0, stderr: '' })
    return run.stdout
  }

  /** As `ok`, with `--json`, parsed. */
  async json(...args: string[]): Promise<unknown> {
    const separator = args.indexOf('--')
    const at = separator === -1 ? args.length : separator
    return JSON.parse(await this.ok(...args.toSpliced(at, 0, '--json')))
  }
}
