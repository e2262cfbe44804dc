import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { Cli } from './run-cli.ts'

/** An agent with hooks that edits by tools and by shell, as a script. */
export class FakeAgent {
  readonly cli: Cli
  readonly project: string
  #calls = 0

  /** @param project the name of its directory below that of the test; usually the directory of files. */
  constructor(cli: Cli = new Cli(), project = 'files') {
    this.cli = cli
    this.project = join(realpathSync(cli.scratch), project)
    mkdirSync(this.project, { recursive: true })
  }

  /** Sends an event; nothing may be printed, and nothing may fail. */
  async send(hook_event_name: string, fields: object = {}): Promise<void> {
    const input = JSON.stringify({ session_id: 's1', cwd: this.project, hook_event_name, ...fields })
    expect(await this.cli.run(['hook', 'claude'], { input })).toEqual({ code: 0, stdout: '', stderr: '' })
  }

  async edit(name: string, text: string): Promise<void> {
    const path = join(this.project, name)
    await this.#call('Write', { file_path: path, content: text }, () => this.write(name, text))
  }

  async shell(command: string): Promise<void> {
    await this.#call('Bash', { command }, () => execFileSync('sh', ['-c', command], { cwd: this.project }))
  }

  async #call(tool_name: string, tool_input: object, work: () => void): Promise<void> {
    const fields = { tool_name, tool_input, tool_use_id: String(++this.#calls) }
    await this.send('PreToolUse', fields)
    work()
    await this.send('PostToolUse', fields)
  }

  write(name: string, text: string): void {
    mkdirSync(join(this.project, name, '..'), { recursive: true })
    writeFileSync(join(this.project, name), text)
  }

  /** Reads every file but Git's own, with its permissions. */
  read(): Record<string, string> {
    const entries = readdirSync(this.project, { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile() && !entry.parentPath.includes('/.git'))
    return Object.fromEntries(
      files
        .map((entry) => join(entry.parentPath, entry.name))
        .sort()
        .map((path) => [path.slice(this.project.length), readFileSync(path, 'utf8')]),
    )
  }

  git(...args: string[]): string {
    const options = ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args]
    return execFileSync('git', options, { cwd: this.project, encoding: 'utf8' })
  }
}
