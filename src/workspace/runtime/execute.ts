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
  /** Finds what a request is about. ENOENT. */
  readonly open: (request: ExecutionRequest) => Promise<ExecutionWorkspace>
  /** Directory for the files of open sessions. */
  readonly sessions: string
  readonly policy?: PolicyRules | undefined
  readonly journal?: ExecutionJournal | undefined
  /** Without them, what policy gates is refused for good. */
  readonly approvals?: Approvals | undefined
  /** The id of a request that waited, and to which somebody has just said yes. */
  readonly answered?: string | undefined
  /** The environment of every command; what a request says counts before it. */
  readonly env?: Readonly<Record<string, string>>
  /** Default input of commands: an open descriptor of this process. Empty when absent. */
  readonly stdin?: number | undefined
  /** The home directory of the user, whose secrets isolation hides. */
  readonly userHome?: string | undefined
  /** Further places that isolation hides. */
  readonly hidden?: readonly string[] | undefined
  readonly limits?: CommandLimits
  /** The memory in bytes that all processes of a command may take together; half of the machine's when absent. */
  readonly memory?: number | 'none'
  /** Receives output in chunks. If it returns a promise, more is read only after that. */
  readonly onOutput?: ((stream: 'stdout' | 'stderr', chunk: Uint8Array) => unknown) | undefined
  /** Reports whether output still has a reader; without one the command gets a closed pipe. */
  readonly isHeard?: ((stream: 'stdout' | 'stderr') => boolean) | undefined
  /** Called with what the command changed, while the trees before and after it can still be compared. */
  readonly onChanges?: ((changes: CommandChanges) => Promise<void>) | undefined
  readonly signal?: AbortSignal | undefined
  readonly by?: Pick<CallContext, 'caller' | 'trace'>
}

/**
 * Runs a command in a workspace, in ten steps, each an event (`coppice:exec:<step>`). A failure at any of them undoes
 * what the earlier ones made. EINVAL for a request that cannot be, `Refusal` (EACCES) for one that may not be; a
 * command that fails is a result.
 */
export async function execute(
  input: ExecutionRequestInput,
  options: ExecuteOptions,
): Promise<ExecutionResult> {
  await using place = new ExecutionState()
  return await new Execution(input, options, place).run()
}

/** A workspace whose session stays open for many commands; each finds what those before it left. */
export interface OpenExecution extends AsyncDisposable {
  /** Runs the next command, in all ten steps, once those before it have ended. EINVAL for another vault or session. */
  run(input: ExecutionRequestInput, options?: RunningOptions): Promise<ExecutionResult>
}

/** Options that may differ for each command of an open execution. */
export type RunningOptions = Pick<ExecuteOptions, 'onOutput' | 'onChanges' | 'signal' | 'stdin' | 'by'>

/** Opens an execution. The session begins with the first command that is let through, and ends when it is disposed of. */
export function openExecution(options: ExecuteOptions): OpenExecution {
  const place = new ExecutionState()
  const mutex = new Mutex()
  return {
    run: (input, more) => mutex.run(() => new Execution(input, { ...options, ...more }, place).run()),
    [Symbol.asyncDispose]: () => mutex.run(() => place[Symbol.asyncDispose]()),
  }
}

const STEPS_AFTER_RUN: readonly ExecutionStep[] = ['summarise', 'result']

class Execution {
  readonly #id = randomUUID()
  readonly #input: ExecutionRequestInput
  readonly #options: ExecuteOptions
  readonly #state: ExecutionState
  /** The PATH of a command that a rule gives the network. */
  #hostPath: string | undefined

  constructor(input: ExecutionRequestInput, options: ExecuteOptions, place: ExecutionState) {
    this.#input = input
    this.#options = options
    this.#state = place
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
      // A journal that cannot be written, as on a full disk, must not hide what went wrong.
      await this.#writeJournal(request, decision, { event: 'failed', message }).catch(() => {})
      throw error
    }
  }

  async #perform(
    request: ExecutionRequest,
    workspace: ExecutionWorkspace,
    decision: ExecutionDecision,
  ): Promise<ExecutionResult> {
    const { signal, by = {} } = this.#options
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
      await using own = await workspace.collect({ changes, since, by }).catch((error: unknown) => {
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
    // Where the workspace lies is known only now, and a path of this machine that leads into it is none outside.
    const placed = directory === undefined ? request : { mountpoint: directory, ...request }
    const explanation = await explainInThread(placed, this.#options.policy)
    const { decision, networkPrograms } = explanation
    if (networkPrograms.length === 0) return decision
    const roots = [directory, request.mountpoint].filter((root) => root !== undefined)
    const { path, problem } = await findHostPrograms(explanation, this.#options.env?.['PATH'] ?? '', roots)
    this.#hostPath = path
    if (problem === undefined) return decision
    const reason = `${problem}, so no rule gives it the network; it needs an approval`
    return { ...decision, action: 'require_approval', reason }
  }

  /** A session elsewhere than in the directory itself makes the directory a place outside, which only now is known. */
  async #assertInside(request: ExecutionRequest, { path: mountpoint }: CommandSession): Promise<void> {
    const { decision } = await explainInThread({ ...request, mountpoint }, this.#options.policy)
    if (decision.action === 'deny') throw new ExecutionRefusal(request.vault, decision)
  }

  /** Lets pass what may run. What may not leaves nothing but a note. */
  async #gate(request: ExecutionRequest, decision: ExecutionDecision): Promise<void> {
    const { approvals, answered } = this.#options
    const isGated = decision.action === 'require_approval'
    if (isGated && (await approvals?.isDenied(request)) === true) {
      await this.#writeJournal(request, decision, { event: 'refused', approval: null })
      throw new ExecutionRefusal(request.vault, decision, { answer: 'no' })
    }
    const isApproved = isGated && (await approvals?.consume(request, answered)) === true
    // Somebody has seen it and let it run as it is.
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
    // What will isolate the command besides is tried out meanwhile.
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
    // `cd -` would lead to where the user was before, which is no place of the session.
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
    // Whatever the command did until it was ended is kept.
    if (!STEPS_AFTER_RUN.includes(step)) this.#options.signal?.throwIfAborted()
    return traceStep({ id: this.#id, step, request: this.#input }, work)
  }

  async #writeJournal(
    { vault, command }: ExecutionRequest,
    decision: ExecutionDecision,
    event: JournalEvent,
  ): Promise<void> {
    const { journal, by = {} } = this.#options
    const time = new Date().toISOString()
    await journal?.append({ id: this.#id, time, vault, command, decision, ...event }, by)
  }
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

/** Without what cannot be kept, and what is in it. */
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

/** The command has run, so whoever reads why must know that what it did is gone. */
function createNotKeptError({ vault }: ExecutionRequest, error: unknown): unknown {
  if (!isVfsError(error)) return error
  const detail = `what the command changed could not be kept: ${error.detail ?? error.message}`
  return new VfsError(error.code, vault, { op: 'exec', detail, cause: error })
}
