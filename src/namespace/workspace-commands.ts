import type { Home } from '../backends/vault/index.ts'
import type { BoundaryRunOptions, RunReport } from '../boundary/index.ts'
import type { Redactor } from '../secrets/index.ts'
import { formatApproval } from '../text/index.ts'
import type { CommandCall, CommandReport, WorkspaceCommand } from '../tools/index.ts'
import type {
  ExecutionDecision,
  ExecutionRequest,
  ExecutionRequestInput,
  ExecutionResult,
  MaskChoice,
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

/** A workspace in which commands run. */
export interface CommandTarget {
  /** The `vault` of an execution request: the name of a vault, or the path of a directory. */
  readonly vault: string
  /** Prepares the run of one command. */
  begin(call: CommandCall): Promise<CommandRun>
}

/** One command in a workspace, and what happens with its changes. */
export interface CommandRun {
  readonly options: Partial<BoundaryRunOptions>
  /** Keeps the changes of the command. */
  keep(report: RunReport): Promise<KeptChanges>
  /** Discards the changes of a cancelled command. */
  discard(report: RunReport): Promise<void>
}

/** The changes of a command, as a caller gets them. */
export type KeptChanges = Pick<
  CommandReport,
  'changes' | 'directories' | 'git' | 'checkpoint' | 'unmerged' | 'overwritten'
>

/** Runs commands in a workspace through the boundary of a home. */
export class WorkspaceCommands {
  readonly #home: Home
  readonly #target: CommandTarget
  readonly #settings: CommandSettings

  constructor(home: Home, target: CommandTarget, settings: CommandSettings) {
    this.#home = home
    this.#target = target
    this.#settings = settings
  }

  /**
   * Runs a command and keeps its changes. EACCES if it may not run, EINVAL for an invalid request or policy. A cancelled
   * call keeps nothing and throws the reason of its signal.
   */
  async run(command: WorkspaceCommand, call: CommandCall): Promise<CommandReport> {
    const prepared = await this.#target.begin(call)
    const report = await this.#run(command, call, prepared)
    if (call.ctx.signal?.aborted === true) {
      await prepared.discard(report)
      call.ctx.signal.throwIfAborted()
    }
    const { result } = report
    return {
      exitCode: result.exit_code,
      isTimedOut: result.timed_out,
      stdout: decodeOutput(result.stdout),
      stderr: decodeOutput(result.stderr),
      leftOut: result.left_out ?? [],
      isTruncated: result.truncated ?? false,
      isNetworked: hasReachedNetwork(command, result),
      ...(await prepared.keep(report)),
    }
  }

  #createRequest(workspaceCommand: WorkspaceCommand): ExecutionRequestInput {
    const { command, cwd, stdin, timeoutMs, network, hosts } = workspaceCommand
    const { isolation = 'auto' } = this.#settings
    return {
      vault: this.#target.vault,
      command,
      cwd,
      timeoutMs,
      network,
      isolation,
      ...(hosts !== undefined && { hosts }),
      ...(stdin !== undefined && { stdin }),
    }
  }

  async #run(command: WorkspaceCommand, call: CommandCall, { options }: CommandRun): Promise<RunReport> {
    // Loaded with the first command, and opened for each, to use the current policy file.
    const { Boundary } = await import('../boundary/index.ts')
    const { env, userHome, hidden, mask, redactor } = this.#settings
    const boundary = await Boundary.open(this.#home, redactor)
    const { ctx, ask, onOutput } = call
    const { signal, ...provenance } = ctx
    return boundary.run(this.#createRequest(command), {
      env,
      userHome,
      hidden,
      mask,
      signal,
      by: provenance,
      ...options,
      ...(ask !== undefined && {
        ask: (decision, request, withdrawn) => ask(formatCommandQuestion(request, decision), withdrawn),
      }),
      ...(onOutput !== undefined && { onOutput: (_stream, chunk) => onOutput(chunk) }),
    })
  }
}

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

/** Formats the question before a command runs. It shows the whole command and what it may use. */
function formatCommandQuestion(request: ExecutionRequest, decision: ExecutionDecision): string {
  return ['Let this run once?', ...formatApproval(request, decision)].join('\n')
}
