import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { KILLABLE } from '../support/killable.ts'
import type { Run } from '../support/run-node.ts'
import { Cli } from './run-cli.ts'

/** A project whose commands are killed together with Coppice. */
export class KilledProject extends Cli {
  constructor() {
    super()
    writeFileSync(join(this.files, 'a'), 'one\ntwo\nthree\nfour\nfive\n')
    writeFileSync(join(this.files, 'gone'), 'x\n')
  }

  /** Runs a shell line in a fork and kills Coppice, and nothing else, once the line is done. */
  async kill(line: string, ...options: string[]): Promise<void> {
    const child = await this.hold(line, ...options)
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  /** Runs a shell line in a fork that goes on until it is killed; resolves once the line is done. */
  async hold(line: string, ...options: string[]): Promise<ChildProcessWithoutNullStreams> {
    const child = this.start(['exec', ...options, '-c', '--', `${line}; echo done; sleep 600`])
    const [said] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
    expect(String(said)).toBe('done\n')
    return child
  }

  /** Runs a program that is killed after a call, such as `rmSync:/fork.json`. */
  async killAt(call: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Run> {
    const run = await this.run(args, { env: { ...env, NODE_OPTIONS: KILLABLE, KILL_AT: call } })
    expect(run.code, `${args.join(' ')}\n${run.stderr}`).toBe(null)
    return run
  }

  listSessions(): string[] {
    return readdirSync(join(this.home, 'sessions'))
  }
}
