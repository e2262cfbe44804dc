import { VfsError } from '../../vfs/index.ts'
import type { ExecutionRequest } from '../policy/index.ts'
import type { CommandSession } from '../session/index.ts'
import type { Baseline, ExecutionWorkspace } from './execution-workspace.ts'

/** An open session and its start, in nanoseconds since the epoch. */
export interface StartedSession {
  readonly session: CommandSession
  readonly since: bigint
}

/**
 * The workspace of commands, the base of its session, and the session. Each is opened for the first command that
 * needs it, reused by later ones, and closed when this is disposed.
 */
export class ExecutionState implements AsyncDisposable {
  /** True if more commands may follow. */
  readonly continues: boolean
  #request: Pick<ExecutionRequest, 'vault' | 'session'> | undefined
  #workspace: ExecutionWorkspace | undefined
  #baseline: Baseline | undefined
  #startedSession: StartedSession | undefined

  constructor({ continues = false }: { readonly continues?: boolean } = {}) {
    this.continues = continues
  }

  /** Returns the workspace. Throws EINVAL for a request with another vault or session than the first. */
  async ensureWorkspace(
    request: ExecutionRequest,
    open: () => Promise<ExecutionWorkspace>,
  ): Promise<ExecutionWorkspace> {
    const first = this.#request ?? request
    for (const field of ['vault', 'session'] as const) {
      if (request[field] === first[field]) continue
      const detail = `${field} must stay '${first[field]}' for all commands of an open execution`
      throw new VfsError('EINVAL', '/', { op: 'exec', detail })
    }
    this.#workspace ??= await open()
    this.#request ??= request
    return this.#workspace
  }

  async ensureBaseline(open: () => Promise<Baseline>): Promise<Baseline> {
    this.#baseline ??= await open()
    return this.#baseline
  }

  async ensureSession(open: () => Promise<CommandSession>): Promise<StartedSession> {
    const since = BigInt(Date.now()) * 1_000_000n
    this.#startedSession ??= { since, session: await open() }
    return this.#startedSession
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const [startedSession, baseline] = [this.#startedSession, this.#baseline]
    this.#startedSession = undefined
    this.#baseline = undefined
    try {
      await startedSession?.session[Symbol.asyncDispose]()
    } finally {
      await baseline?.[Symbol.asyncDispose]()
    }
  }
}
