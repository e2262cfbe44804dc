import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { PROGRAM } from '../mcp/mcp-client.ts'
import { KILLABLE } from '../support/killable.ts'

const [node = '', ...program] = PROGRAM

interface MachineResult {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A machine: a user's directory, a working directory and the shared home in its environment. */
export class Machine {
  /** The user's directory. */
  readonly directory: string
  readonly cwd: string
  readonly #env: NodeJS.ProcessEnv

  /** @param variables further ones of its environment. */
  constructor(scratch: string, name: string, home: string, variables: NodeJS.ProcessEnv = {}) {
    this.directory = join(scratch, name)
    this.cwd = join(this.directory, 'work')
    mkdirSync(this.cwd, { recursive: true })
    const own = { HOME: this.directory, COPPICE_HOME: home, COPPICE_CONTEXT: name }
    this.#env = { PATH: process.env['PATH'], ...own, ...variables }
  }

  run(...args: string[]): MachineResult {
    return this.#run(args)
  }

  /** Runs a command that is killed after a call, such as `rmSync:/fork.json`. */
  killAt(call: string, ...args: string[]): void {
    const env = { ...this.#env, NODE_OPTIONS: KILLABLE, KILL_AT: call }
    const { signal } = spawnSync(node, [...program, ...args], { cwd: this.cwd, env })
    expect({ args, signal }).toEqual({ args, signal: 'SIGKILL' })
  }

  /** Runs a command with this standard input. */
  feed(input: string, ...args: string[]): MachineResult {
    return this.#run(args, input)
  }

  #run(args: readonly string[], input = ''): MachineResult {
    const options = { cwd: this.cwd, env: this.#env, encoding: 'utf8' as const, input }
    const { status, stdout, stderr } = spawnSync(node, [...program, ...args], options)
    return { status, stdout, stderr }
  }

  /** Runs a command that must succeed, and returns its output. */
  get(...args: string[]): string {
    const { status, stdout, stderr } = this.run(...args)
    expect({ args, status, stderr }).toEqual({ args, status: 0, stderr: '' })
    return stdout
  }

  start(...args: string[]): ChildProcessWithoutNullStreams {
    return spawn(node, [...program, ...args], { cwd: this.cwd, env: this.#env })
  }
}
