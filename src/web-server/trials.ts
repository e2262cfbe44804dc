import type { CommandSettings } from '../namespace/index.ts'
import { isVfsError, VfsError } from '../vfs/index.ts'
import { formatTreeRef, type TreeName, type WebTrial } from '../web-api/index.ts'
import { type Approval, findForkByName, LinkedDirectory, type OutputText } from '../workspace/index.ts'
import { shortenText } from './shorten-text.ts'
import { createTrialName, isTrialName } from './trial-name.ts'
import type { WebContext } from './web-context.ts'

const TIMEOUT_MS = 60_000
const KEPT_MS = 15 * 60_000
/** Trials at once. */
const MAX_RUNNING = 4
/** Distinguishes a trial from the request itself, whose approval it must not use up. */
const TRIAL_VARIABLE = 'COPPICE_TRIAL'

/** A fork that a trial made. */
interface KeptTrial {
  readonly fork: string
  readonly timer: NodeJS.Timeout
}

/**
 * Runs commands that wait for an approval in throw-away forks, without network and always isolated. The forks are there
 * to be compared until a decision, a quarter of an hour, or the end of the server.
 */
export class Trials implements AsyncDisposable {
  readonly #web: WebContext
  readonly #commands: CommandSettings
  readonly #kept = new Map<string, KeptTrial>()
  #running = 0

  constructor(web: WebContext, commands: CommandSettings) {
    this.#web = web
    this.#commands = commands
  }

  /** Deletes the forks that trials of a killed server left. */
  async sweep(): Promise<void> {
    for (const name of await this.#web.home.vaults()) if (isTrialName(name)) await this.#dropFork(name)
  }

  /**
   * Runs the command of a request. EACCES if policy refuses it outright, ENOTSUP or EIO without isolation, EUNAVAILABLE
   * if too many trials run.
   */
  async run(approval: Approval, signal: AbortSignal): Promise<WebTrial> {
    if (this.#running >= MAX_RUNNING) {
      const detail = `${MAX_RUNNING} commands are being tried; wait until one has ended`
      throw new VfsError('EUNAVAILABLE', approval.id, { op: 'try', detail })
    }
    this.#running++
    try {
      return await this.#run(approval, signal)
    } finally {
      this.#running--
    }
  }

  async #run(approval: Approval, signal: AbortSignal): Promise<WebTrial> {
    await this.drop(approval.id)
    const name = createTrialName()
    try {
      const source = await this.#prepareFork(approval, name)
      const boundary = await this.#web.openBoundary()
      const { result, fork } = await boundary.run(createRequest(approval, source), {
        env: this.#commands.env,
        userHome: this.#commands.userHome,
        hidden: this.#commands.hidden,
        mask: this.#commands.mask,
        fork: name,
        isOffline: true,
        signal,
        by: { caller: this.#web.caller },
        ask: async () => 'yes',
      })
      const kept = fork === null ? undefined : await this.#findTreePair(approval, name, source)
      if (kept === undefined) await this.#dropFork(name)
      else this.#keep(approval.id, name)
      const changes =
        kept === undefined
          ? 0
          : (await this.#web.comparisons.compare(kept.from, kept.to, { signal })).changes.length
      return {
        id: approval.id,
        exitCode: result.exit_code,
        isTimedOut: result.timed_out,
        durationMs: result.duration_ms,
        stdout: shortenText(formatOutput(result.stdout), this.#web.redactor),
        stderr: shortenText(formatOutput(result.stderr), this.#web.redactor),
        changes,
        from: kept?.from ?? null,
        to: kept?.to ?? null,
        expiresAt: new Date(Date.now() + KEPT_MS).toISOString(),
        limits: listLimits(approval),
      }
    } catch (error) {
      await this.#dropFork(name)
      throw error
    }
  }

  /** Deletes the fork of a trial, if there is one. */
  async drop(id: string): Promise<void> {
    const kept = this.#kept.get(id)
    if (kept === undefined) return
    clearTimeout(kept.timer)
    this.#kept.delete(id)
    await this.#dropFork(kept.fork)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const id of [...this.#kept.keys()]) await this.drop(id)
  }

  /**
   * Returns the fork in which the command is to run; undefined for a command that gets a new one. Copies a fork of a
   * directory; a fork of a vault is forked by the run itself.
   */
  async #prepareFork({ vault, fork }: Approval, name: string): Promise<string | undefined> {
    const { home } = this.#web
    if (fork === undefined || !(await home.vaults()).includes(fork)) return undefined
    if (!vault.startsWith('/')) return fork
    const found = await findForkByName(home, fork)
    if (found === undefined) return undefined
    const link = new LinkedDirectory(home, found.directory)
    const copy = await link.startFork(name, { fork: found.fork })
    if (copy.name !== name) throw new VfsError('EEXIST', name, { op: 'try' })
    await link.markUsed(copy)
    return fork
  }

  /**
   * Returns the tree of the trial and the one before it: the fork that it is a copy of, or the state that it was forked
   * from. Undefined if the command left no fork.
   */
  async #findTreePair(
    { vault }: Approval,
    name: string,
    source: string | undefined,
  ): Promise<{ readonly from: TreeName; readonly to: TreeName } | undefined> {
    if (!(await this.#web.home.vaults()).includes(name)) return undefined
    const kind = vault.startsWith('/') ? 'fork' : 'vault'
    const to = formatTreeRef({ kind, name })
    const isCopy = kind === 'fork' && source !== undefined
    return {
      to,
      from: isCopy ? formatTreeRef({ kind, name: source }) : formatTreeRef({ kind, name, at: 'base' }),
    }
  }

  #keep(id: string, fork: string): void {
    const timer = setTimeout(() => void this.drop(id).catch(() => {}), KEPT_MS)
    timer.unref()
    this.#kept.set(id, { fork, timer })
  }

  async #dropFork(name: string): Promise<void> {
    const { home } = this.#web
    try {
      const found = await findForkByName(home, name)
      if (found === undefined) await home.deleteVault(name)
      else await new LinkedDirectory(home, found.directory).drop(found.fork)
    } catch (error) {
      if (!isVfsError(error, 'ENOENT')) throw error
    }
  }
}

function createRequest(
  { vault, cwd, command, env, stdin, session, readonly }: Approval,
  source: string | undefined,
): Parameters<Awaited<ReturnType<WebContext['openBoundary']>>['run']>[0] {
  return {
    vault: source === undefined || vault.startsWith('/') ? vault : source,
    cwd,
    command,
    env: { ...env, [TRIAL_VARIABLE]: '1' },
    ...(stdin !== null && { stdin }),
    ...(session !== undefined && { session }),
    ...(readonly !== undefined && { readonly }),
    checkpoint: 'never',
    timeoutMs: TIMEOUT_MS,
    network: false,
    isolation: 'strict',
  }
}

function listLimits({ network, hosts = [], passedEnv = [], env, isolation }: Approval): string[] {
  const hasSecrets = Object.values(env).some((value) => value.includes('[redacted]'))
  return [
    ...(network || hosts.length > 0 ? ['The trial had no network.'] : []),
    ...(passedEnv.length > 0 || hasSecrets ? ['The trial did not get the secret values of variables.'] : []),
    ...(isolation === 'none'
      ? ['The trial was isolated; the command itself asks to run without isolation.']
      : []),
  ]
}

function formatOutput(output: OutputText): string {
  return typeof output === 'string' ? output : `(${output.data.length} characters of base64)`
}
