import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { VfsError, type VfsErrorJson } from '../vfs/index.ts'
import type { VaultMountOptions } from './mount-vault.ts'

export interface ProcessMountOptions extends VaultMountOptions {
  /** Wraps a command so that it runs where the mount must be visible. */
  readonly wrapCommand: (argv: readonly string[]) => readonly string[]
  /** Complete environment of the wrapped command. */
  readonly env: Readonly<Record<string, string>>
}

/**
 * Mounts a vault from a separate process, possibly in other namespaces.
 * The mount is visible there and ends with that process. Fails as `mountVault` does, and with EIO if the process ends.
 */
export async function mountInProcess({
  wrapCommand,
  env,
  ...work
}: ProcessMountOptions): Promise<ProcessMount> {
  const [file = '', ...args] = wrapCommand([process.execPath, getProgramFile()])
  const child = spawn(file, args, { env, detached: true })
  const mount = new ProcessMount(child)
  // If it exits before it reads, it reports the reason on its output.
  child.stdin.on('error', () => {})
  child.stdin.write(`${JSON.stringify(work)}\n`)
  const complaint = text(child.stderr)
  const [output]: (Buffer | undefined)[] = await Promise.race([once(child.stdout, 'data'), mount.ended])
  const outcome: VfsErrorJson | 'mounted' | undefined = output && JSON.parse(output.toString())
  if (outcome === 'mounted') return mount
  await mount.ended
  if (outcome !== undefined) throw VfsError.fromJSON(outcome)
  const detail = (await complaint).trim().split('\n', 1)[0] || 'the serving process ended immediately'
  throw new VfsError('EIO', work.directory, { op: 'mount', detail })
}

/** A mount served by another process. Dispose of it to unmount. */
export class ProcessMount implements AsyncDisposable {
  /** Process that serves it, provided that the wrapped command execs it. */
  readonly pid: number
  /** Resolves, with an empty array, when the process has ended or could not start. */
  readonly ended: Promise<[]>
  readonly #child: ChildProcessWithoutNullStreams

  constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child
    this.pid = child.pid ?? 0
    const { promise, resolve } = Promise.withResolvers<[]>()
    child.once('exit', () => resolve([]))
    child.once('error', () => resolve([]))
    this.ended = promise
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin.end()
    await this.ended
  }
}

/** The program is beside this file, as source or built. */
function getProgramFile(): string {
  const name = import.meta.url.endsWith('.ts') ? './vault-process.ts' : './vault-process.js'
  return fileURLToPath(new URL(name, import.meta.url))
}
