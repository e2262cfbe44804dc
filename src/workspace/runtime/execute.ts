import { randomUUID } from 'node:crypto'
import { Mutex } from '../../machine/index.ts'
import { type CallContext, isVfsError, VfsError } from '../../vfs/index.ts'
import {
  type CommandLimits,
  defaultLimits,
  type IsolationPlan,
  limitMemory,
  probeLandlock,
} from '../isolation/index.ts'
import {
  type ChangedFiles,
  type ExecutionDecision,
  type ExecutionRequest,
  type ExecutionRequestInput,
  type ExecutionResult,
  encodeOutput,
  executionRequest,
  type PolicyRules,
} from '../policy/index.ts'
import { type CommandSession, openSession, type RunOutcome, type SessionChange } from '../session/index.ts'
import type { Approvals } from './approvals.ts'
import { listSetuidFiles, toChangedFiles } from './changed-files.ts'
import type { Completion, ExecutionJournal, JournalEvent } from './execution-journal.ts'
import { ExecutionRefusal } from './execution-refusal.ts'
import { ExecutionState } from './execution-state.ts'
import { type ExecutionStep, traceStep } from './execution-steps.ts'
import type { Baseline, CommandChanges, ExecutionWorkspace } from './execution-workspace.ts'
import { explainInThread } from './explain-in-thread.ts'
import { findHostPrograms } from './host-programs.ts'

/** Environment of an execution. */
export interface ExecuteOptions {
  /** Opens the workspace of a request. Throws ENOENT if it is missing. */
  readonly open: (request: ExecutionRequest) => Promise<ExecutionWorkspace>
  /** Directory for the files of open sessions. */
  readonly sessions: string
  readonly policy?: PolicyRules | undefined
  readonly journal?: ExecutionJournal | undefined
  /** Without approvals, gated requests are refused. */
  readonly approvals?: Approvals | undefined
  /** Id of a waiting request that a person has just approved. */
  readonly answered?: string | undefined
  /** Environment of every command; variables of a request override it. */
  readonly env?: Readonly<Record<string, string>>
  /** Default input of commands: an open descriptor of this process. Empty when absent. */
  readonly stdin?: number | undefined
  /** The user's home directory, whose secrets isolation hides. */
  readonly userHome?: string | undefined
  /** More paths that isolation hides. */
  readonly hidden?: readonly string[] | undefined
  readonly limits?: CommandLimits
  /** Memory limit in bytes for all processes of a command together; half of the machine's memory when absent. */
  readonly memory?: number | 'none'
  /** Receives output in chunks. If it returns a promise, reading waits for that. */
  readonly onOutput?: ((stream: 'stdout' | 'stderr', chunk: Uint8Array) => unknown) | undefined
  /** Reports whether the output still has a reader; without one the command gets a closed pipe. */
  readonly isHeard?: ((stream: 'stdout' | 'stderr') => boolean) | undefined
  /** Called with the command's changes, while the trees before and after it are readable. */
  readonly onChanges?: ((changes: CommandChanges) => Promise<void>) | undefined
  readonly signal?: AbortSignal | undefined
  readonly by?: Pick<CallContext, 'caller' | 'trace'>
}

/**
 * Runs a command in a workspace, in ten steps, each an event (`coppice:exec:<step>`). A failure at any step undoes
 * the earlier ones. Throws EINVAL for an invalid request, `ExecutionRefusal` (EACCES) for a refused one. A failing
 * command is a result, not an error.
 */
export async function execute(
  input: ExecutionRequestInput,
  options: ExecuteOptions,
): Promise<ExecutionResult> {
  await using state = new ExecutionState()
  return await new Execution(input, options, state).run()
}

/** A workspace whose session stays open for many commands. Each sees the files of the previous ones. */
export interface OpenExecution extends AsyncDisposable {
  /** Runs the next command in all ten steps, after the previous ones. Throws EINVAL for another vault or session. */
  run(input: ExecutionRequestInput, options?: RunningOptions): Promise<ExecutionResult>
}

/** Options that may differ for each command of an open execution. */
export type RunningOptions = Pick<ExecuteOptions, 'onOutput' | 'onChanges' | 'signal' | 'stdin' | 'by'>

/**
 * Opens an execution. The session starts with the first permitted command, and ends when the execution is disposed.
 */
export function openExecution(options: ExecuteOptions): OpenExecution {
  const state = new ExecutionState()
  const mutex = new Mutex()
  return {
    run: (input, more) => mutex.run(() => new Execution(input, { ...options, ...more }, state).run()),
    [Symbol.asyncDispose]: () => mutex.run(() => state[Symbol.asyncDispose]()),
  }
}

const STEPS_AFTER_RUN: readonly ExecutionStep[] = ['summarise', 'result']

class Execution {
  readonly #id = randomUUID()
  readonly #input: ExecutionRequestInput
  readonly #options: ExecuteOptions
  readonly #state: ExecutionState
  /** The PATH of a command to which a rule grants the network. */
  #hostPath: string | undefined

  constructor(input: ExecutionRequestInput, options: ExecuteOptions, state: ExecutionState) {
    this.#input = input
    this.#options = options
    this.#state = state
  }

  async run(): Promise<ExecutionResult> {
    const request = await this.#step('validate', () => executionRequest(this.#input))
    const workspace = await this.#step('resolve', () =>
      this.#state.workspace(request, () => this.#options.open(request)),
    )
    const decision = await this.#step('policy', () => this.#decide(request, workspace))
    await this.#step('gate', () => this.#gate(request, decision))
    try {
      return await this.#perform(request, workspace, decision)
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      // A journal that cannot be written, as on a full disk, must not hide the original error.
      await this.#writeJournal(request, decision, { event: 'failed', message }).catch(() => {})
      throw error
    }
  }

  async #perform(
    request: ExecutionRequest,
    workspace: ExecutionWorkspace,
    decision: ExecutionDecision,
  ): Promise<ExecutionResult> {
    const { signal, by: provenance = {} } = this.#options
    const baseline = await this.#step('baseline', () =>
      this.#state.baseline(() => workspace.baseline(request.session, signal)),
    )
    const checkpoint = await this.#step('checkpoint', () =>
      isCheckpointWanted(request, decision) ? workspace.checkpoint() : null,
    )
    const { session, since } = await this.#step('session', () =>
      this.#state.session(() => this.#openSession(request, baseline.session)),
    )
    await this.#assertInside(request, session)
    const network = request.network || decision.categories.includes('networked')
    const outcome = await this.#step('run', () => this.#runCommand({ ...request, network }, session))
    const summary = await this.#step('summarise', async () => {
      const all = await session.changes()
      const changes = filterKept(all, workspace)
      await using own = await workspace
        .collect({ changes, since, by: provenance })
        .catch((error: unknown) => {
          throw createNotKeptError(request, error)
        })
      await this.#options.onChanges?.(own)
      const changed = toChangedFiles(own.changes)
      return { changed, setuid: listSetuidFiles(own.changes), leftOut: listLeftOut(all, changes) }
    })
    return this.#step('result', async () => {
      const result = createResult({ request, decision, session, checkpoint, outcome, ...summary })
      await this.#writeJournal(request, decision, { event: 'completed', ...toCompletion(result) })
      return result
    })
  }

  async #decide(request: ExecutionRequest, { directory }: ExecutionWorkspace): Promise<ExecutionDecision> {
    assertMountpoint(request, directory)
    // Only now is the workspace's path known. A host path into the workspace is not outside of it.
    const placed = directory === undefined ? request : { ...request, mountpoint: directory }
    const explanation = await explainInThread(placed, this.#options.policy)
    const { decision, networkPrograms } = explanation
    if (networkPrograms.length === 0) return decision
    const roots = directory === undefined ? [] : [directory]
    const { path, problem } = await findHostPrograms(explanation, this.#options.env?.['PATH'] ?? '', roots)
    this.#hostPath = path
    if (problem === undefined) return decision
    const reason = `${problem}, so no rule grants it the network; it needs approval`
    return { ...decision, action: 'require_approval', reason }
  }

  /** Decides again if the session is not in the directory itself: the directory is then outside of the workspace. */
  async #assertInside(request: ExecutionRequest, { path: mountpoint }: CommandSession): Promise<void> {
    const { decision } = await explainInThread({ ...request, mountpoint }, this.#options.policy)
    if (decision.action === 'deny') throw new ExecutionRefusal(request.vault, decision)
  }

  /** Throws for a request that may not run. A refusal leaves only a journal line. */
  async #gate(request: ExecutionRequest, decision: ExecutionDecision): Promise<void> {
    const { approvals, answered } = this.#options
    const isGated = decision.action === 'require_approval'
    if (isGated && (await approvals?.isDenied(request)) === true) {
      await this.#writeJournal(request, decision, { event: 'refused', approval: null })
      throw new ExecutionRefusal(request.vault, decision, { answer: 'no' })
    }
    const isApproved = isGated && (await approvals?.consume(request, answered)) === true
    // A person has seen and approved the request as it is.
    if (isApproved) this.#hostPath = undefined
    if (decision.action !== 'deny' && (!isGated || isApproved)) {
      await this.#writeJournal(request, decision, { event: 'requested' })
      return
    }
    const approval = isGated ? await approvals?.request(request, decision) : undefined
    await this.#writeJournal(request, decision, { event: 'refused', approval: approval ?? null })
    throw new ExecutionRefusal(request.vault, decision, { approval })
  }

  #openSession(request: ExecutionRequest, base: Baseline['session']): Promise<CommandSession> {
    const { signal, sessions: directory } = this.#options
    const isolation = this.#createIsolation(request)
    // Probes the remaining isolation meanwhile.
    if (request.isolation !== 'none') probeLandlock().catch(() => undefined)
    return openSession(request.session, base, {
      directory,
      isolation,
      ...(signal !== undefined && { signal }),
    })
  }

  #createIsolation({ isolation: level }: ExecutionRequest): Omit<IsolationPlan, 'network'> {
    const { userHome, hidden = [] } = this.#options
    return { level, hidden, ...(userHome !== undefined && { userHome }) }
  }

  #runCommand(request: ExecutionRequest, session: CommandSession): Promise<RunOutcome> {
    const { command, cwd, env, timeoutMs, network, readonly: isReadonly } = request
    const { memory, onOutput, isHeard, signal } = this.#options
    const limits = limitMemory(this.#options.limits ?? defaultLimits, memory)
    const stdin = request.stdin ?? this.#options.stdin
    // `cd -` would lead to the user's previous directory, outside of the session.
    const { OLDPWD: _before, ...inherited } = this.#options.env ?? {}
    return session.run({
      command,
      cwd,
      env: {
        ...inherited,
        ...(this.#hostPath !== undefined && { PATH: this.#hostPath }),
        ...env,
        COPPICE_VAULT: request.vault,
        COPPICE_WORKSPACE: session.path,
      },
      ...(stdin !== undefined && { stdin }),
      timeoutMs,
      isReadonly,
      isolation: { ...this.#createIsolation(request), network },
      limits,
      ...(onOutput !== undefined && { onOutput }),
      ...(isHeard !== undefined && { isHeard }),
      ...(signal !== undefined && { signal }),
    })
  }

  #step<T>(step: ExecutionStep, work: () => T | Promise<T>): Promise<T> {
    // The changes of a stopped command are kept.
    if (!STEPS_AFTER_RUN.includes(step)) this.#options.signal?.throwIfAborted()
    return traceStep({ id: this.#id, step, request: this.#input }, work)
  }

  async #writeJournal(
    { vault, command }: ExecutionRequest,
    decision: ExecutionDecision,
    event: JournalEvent,
  ): Promise<void> {
    const { journal, by: provenance = {} } = this.#options
    const time = new Date().toISOString()
    await journal?.append({ id: this.#id, time, vault, command, decision, ...event }, provenance)
  }
}

/** Throws ENOTSUP for a mountpoint other than the directory itself: the command would not see its files there. */
function assertMountpoint({ vault, mountpoint }: ExecutionRequest, directory: string | undefined): void {
  if (mountpoint === undefined || mountpoint === directory) return
  const detail = `the command would not see its files at '${mountpoint}'; leave out the mountpoint`
  throw new VfsError('ENOTSUP', vault, { op: 'exec', detail })
}

function isCheckpointWanted({ checkpoint }: ExecutionRequest, { action }: ExecutionDecision): boolean {
  return checkpoint === 'always' || (checkpoint === 'auto' && action !== 'allow')
}

interface ResultParts {
  readonly request: ExecutionRequest
  readonly decision: ExecutionDecision
  readonly session: CommandSession
  readonly checkpoint: string | null
  readonly outcome: RunOutcome
  readonly changed: ChangedFiles
  readonly setuid: readonly string[]
  readonly leftOut: readonly string[]
}

/** Filters out changes that cannot be kept, with everything below them. */
function filterKept(all: readonly SessionChange[], workspace: ExecutionWorkspace): SessionChange[] {
  let left: string | undefined
  return all.filter((change) => {
    if (left !== undefined && change.path.startsWith(`${left}/`)) return false
    if (workspace.canKeep?.(change) !== false) return true
    left = change.path
    return false
  })
}

function listLeftOut(all: readonly SessionChange[], kept: readonly SessionChange[]): string[] {
  const keptSet = new Set(kept)
  const isLeft = (change: SessionChange) =>
    !keptSet.has(change) || (change.kind === 'put' && change.type === 'other')
  return all.filter(isLeft).map(({ path }) => path)
}

function createResult(parts: ResultParts): ExecutionResult {
  const { request, decision, session, checkpoint, outcome, changed, setuid, leftOut } = parts
  const { vault, cwd, command, readonly } = request
  return {
    vault,
    mountpoint: session.path,
    cwd,
    command,
    stdout: encodeOutput(outcome.stdout),
    stderr: encodeOutput(outcome.stderr),
    exit_code: outcome.exitCode,
    duration_ms: Math.round(outcome.durationMs),
    readonly,
    checkpoint,
    changed_files: changed,
    ...(setuid.length > 0 && { setuid_files: setuid }),
    ...(leftOut.length > 0 && { left_out: leftOut }),
    ...(outcome.truncated && { truncated: true }),
    ...(outcome.stopped !== undefined && { stopped: outcome.stopped }),
    decision,
    timed_out: outcome.timedOut,
    session: session.kind,
  }
}

function toCompletion(result: ExecutionResult): Completion {
  const { exit_code, duration_ms, timed_out, checkpoint, changed_files, session } = result
  return { exit_code, duration_ms, timed_out, checkpoint, changed_files, session }
}

/**
 * Creates the error for changes that could not be kept. The command has run, so the message says that they are lost.
 */
function createNotKeptError({ vault }: ExecutionRequest, error: unknown): unknown {
  if (!isVfsError(error)) return error
  const detail = `the changes of the command could not be kept: ${error.detail ?? error.message}`
  return new VfsError(error.code, vault, { op: 'exec', detail, cause: error })
}
