import { randomBytes } from 'node:crypto'
import type { Home, Vault } from '../backends/vault/index.ts'
import type { MaskChoice, RunReport } from '../boundary/index.ts'
import type { Redactor } from '../secrets/index.ts'
import { formatApproval } from '../text/index.ts'
import type { CommandCall, CommandReport, WorkspaceCommand } from '../tools/index.ts'
import { type CallContext, isVfsError } from '../vfs/index.ts'
import type {
  ExecutionDecision,
  ExecutionRequest,
  ExecutionRequestInput,
  ExecutionResult,
  OutputText,
} from '../workspace/index.ts'

/** Options for the commands of a workspace. */
export interface CommandSettings {
  /** The complete environment of the commands. */
  readonly env: Readonly<Record<string, string>>
  /** The user's home directory, whose secrets are hidden from commands. */
  readonly userHome?: string | undefined
  /** More files and directories to hide from commands. */
  readonly hidden?: readonly string[] | undefined
  /** `strict` refuses to run on a host that cannot isolate. */
  readonly isolation?: ExecutionRequestInput['isolation']
  /** Files of the workspace whose values commands do not see; none when absent. */
  readonly mask?: MaskChoice | undefined
  /** Removes secrets from the journal and the approvals; none when absent. */
  readonly redactor?: Redactor | undefined
}

/**
 * Runs commands for a vault: each in a fork, which is merged when the command has ended. So a command sees one state
 * throughout, and concurrent changes are not lost.
 */
export class WorkspaceCommands {
  readonly #home: Home
  readonly #vault: Vault
  readonly #settings: CommandSettings

  constructor(home: Home, vault: Vault, settings: CommandSettings) {
    this.#home = home
    this.#vault = vault
    this.#settings = settings
  }

  /** Runs a command. Throws EACCES if it may not run, EINVAL for an invalid request or policy. */
  async run(command: WorkspaceCommand, call: CommandCall): Promise<CommandReport> {
    const { result, fork } = await this.#runInFork(command, call)
    if (call.ctx.signal?.aborted === true) {
      // A cancelled call leaves no changes.
      if (fork !== null) await this.#home.deleteVault(fork)
      call.ctx.signal.throwIfAborted()
    }
    const merged = fork === null ? NO_CHANGES : await this.#merge(fork, result, call.ctx)
    return {
      exitCode: result.exit_code,
      isTimedOut: result.timed_out,
      stdout: decodeOutput(result.stdout),
      stderr: decodeOutput(result.stderr),
      leftOut: result.left_out ?? [],
      isTruncated: result.truncated ?? false,
      isNetworked: hasReachedNetwork(command, result),
      ...merged,
    }
  }

  #createRequest(asked: WorkspaceCommand): ExecutionRequestInput {
    const { command, cwd, stdin, timeoutMs, network, hosts } = asked
    const { isolation = 'auto' } = this.#settings
    const vault = this.#vault.name
    return {
      vault,
      command,
      cwd,
      timeoutMs,
      network,
      isolation,
      ...(hosts !== undefined && { hosts }),
      ...(stdin !== undefined && { stdin }),
    }
  }

  async #runInFork(command: WorkspaceCommand, { ctx, ask, onOutput }: CommandCall): Promise<RunReport> {
    // Loaded with the first command, and opened for each, to use the current policy file.
    const { Boundary } = await import('../boundary/index.ts')
    const { createForkName } = await import('../workspace/index.ts')
    const { env, userHome, hidden, mask, redactor } = this.#settings
    const boundary = await Boundary.open(this.#home, redactor)
    const { signal, ...provenance } = ctx
    return boundary.run(this.#createRequest(command), {
      // Until the merge the fork belongs to this process; the next process sweeps leftovers.
      fork: createForkName(),
      env,
      userHome,
      hidden,
      mask,
      signal,
      by: provenance,
      ...(ask !== undefined && { ask: (decision, request) => ask(formatCommandQuestion(request, decision)) }),
      ...(onOutput !== undefined && { onOutput: (_stream, chunk) => onOutput(chunk) }),
    })
  }

  async #merge(
    fork: string,
    { decision }: ExecutionResult,
    { caller, trace }: CallContext,
  ): Promise<MergeOutcome> {
    const provenance = { ...(caller !== undefined && { caller }), ...(trace !== undefined && { trace }) }
    const isUndoable = decision.action !== 'allow'
    const checkpoint = isUndoable ? (await this.#vault.checkpoint()).name : null
    try {
      const changes = await this.#home.merge(fork, this.#vault.name, { onConflict: 'fail', ...provenance })
      await this.#home.deleteVault(fork)
      if (changes.length > 0 || checkpoint === null) return { changes, checkpoint, unmerged: null }
      await this.#vault.removeCheckpoint(checkpoint)
      return NO_CHANGES
    } catch (error) {
      if (!isVfsError(error, 'ECONFLICT')) throw error
      if (checkpoint !== null) await this.#vault.removeCheckpoint(checkpoint)
      const unmerged = await this.#keepFork(fork, provenance)
      return { changes: await Array.fromAsync(unmerged.diff()), checkpoint: null, unmerged: unmerged.name }
    }
  }

  /** Gives a fork a permanent name. */
  async #keepFork(fork: string, provenance: Pick<CallContext, 'caller' | 'trace'>): Promise<Vault> {
    const name = `exec-${randomBytes(6).toString('hex')}`
    const kept = await this.#home.fork(this.#vault.name, name, { beside: fork })
    await this.#home.merge(fork, name, { onConflict: 'theirs', ...provenance })
    await this.#home.deleteVault(fork)
    return kept
  }
}

type MergeOutcome = Pick<CommandReport, 'changes' | 'checkpoint' | 'unmerged'>

const NO_CHANGES: MergeOutcome = { changes: [], checkpoint: null, unmerged: null }

/** Reports whether a command could read from the network. With allowed hosts, each connection is known. */
function hasReachedNetwork(
  { network }: WorkspaceCommand,
  { decision, network: uses }: ExecutionResult,
): boolean {
  if (uses !== undefined) return uses.some((use) => use.decision === 'allowed')
  return network || decision.categories.includes('networked')
}

function decodeOutput(output: OutputText): string {
  if (typeof output === 'string') return output
  const bytes = Buffer.from(output.data, 'base64')
  if (bytes.includes(0)) return `(not text; base64) ${output.data}`
  // A byte of another encoding, or half a character at the end, must not hide the rest.
  return `(parts of the output are not UTF-8)\n${bytes.toString('utf8')}`
}

/** Formats the question before a command runs: the whole command and all it gets, each line marked. */
function formatCommandQuestion(request: ExecutionRequest, decision: ExecutionDecision): string {
  return ['Let this run once?', ...formatApproval(request, decision)].join('\n')
}
