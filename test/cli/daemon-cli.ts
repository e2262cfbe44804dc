import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { DaemonClient } from '../../src/daemon/client/index.ts'
import { Cli, type CliOptions } from './run-cli.ts'

/** The real program, with a daemon that stops with the test. */
export class DaemonCli extends Cli {
  constructor(user?: number) {
    super(user)
    onTestFinished(async () => void (await this.run(['daemon', 'stop'])))
  }

  override start(args: readonly string[], options: CliOptions = {}): ReturnType<Cli['start']> {
    return super.start(args, { ...options, env: { XDG_RUNTIME_DIR: '', ...options.env } })
  }

  /** Connects to the running daemon. */
  async client(): Promise<DaemonClient> {
    const client = await DaemonClient.connect(join(this.home, 'run/daemon.sock'))
    onTestFinished(() => client.close())
    return client
  }

  /** Writes a script to a file and returns its path. */
  script(...sayings: readonly object[]): string {
    const file = join(this.scratch, `script-${sayings.length}-${Math.random().toString(36).slice(2)}.ndjson`)
    writeFileSync(file, sayings.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
    return file
  }
}
