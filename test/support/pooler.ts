import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const NOBODY = 65_534

/** PgBouncer in transaction mode, on a unix socket: each statement may get another connection of few. */
export class Pooler {
  readonly directory: string
  readonly #process: ReturnType<typeof spawn>

  private constructor(directory: string, child: ReturnType<typeof spawn>) {
    this.directory = directory
    this.#process = child
  }

  static async start(server: string): Promise<Pooler> {
    const directory = mkdtempSync(join(tmpdir(), 'coppice-pooler-'))
    const file = join(directory, 'pgbouncer.ini')
    writeFileSync(
      file,
      `[databases]
postgres = host=${server} dbname=postgres user=coppice
[pgbouncer]
listen_addr =
listen_port = 5432
unix_socket_dir = ${directory}
auth_type = any
pool_mode = transaction
default_pool_size = 3
`,
    )
    const isRoot = process.getuid?.() === 0
    if (isRoot) for (const path of [directory, file]) chownSync(path, NOBODY, NOBODY)
    const user = isRoot ? { uid: NOBODY, gid: NOBODY } : {}
    const child = spawn('pgbouncer', [file], { stdio: ['ignore', 'ignore', 'pipe'], ...user })
    for await (const line of createInterface({ input: child.stderr })) if (line.includes('process up')) break
    child.stderr.resume()
    return new Pooler(directory, child)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#process, 'exit')
    this.#process.kill('SIGKILL')
    await ended
    rmSync(this.directory, { recursive: true, force: true })
  }
}
