import { createRandomId, Mutex } from '../../machine/index.ts'
import type { CommandNetworkOptions } from '../../network/index.ts'
import { VfsError } from '../../vfs/index.ts'
import {
  type ExecutionDecision,
  type ExecutionRequest,
  type ExecutionRequestInput,
  type ExecutionResult,
  executionRequest,
  type PolicyRules,
} from '../policy/index.ts'
import type { CommandSession } from '../session/index.ts'
import { collectChanges, recordStart } from './collect-changes.ts'
import type { ExecuteOptions } from './execute-options.ts'
import type { JournalEvent } from './execution-journal.ts'
import { addAllowedHosts, ExecutionNetwork } from './execution-network.ts'
import { createResult, toCompletion } from './execution-outcome.ts'
import { ExecutionRefusal } from './execution-refusal.ts'
import { ExecutionState } from './execution-state.ts'
import { type ExecutionStep, traceStep } from './execution-steps.ts'
import type { ExecutionWorkspace } from './execution-workspace.ts'
import { explainIsolated, type IsolatedExplanation } from './explain-isolated.ts'
import { addFailureNotice } from './failure-notice.ts'
import { findHostPrograms } from './host-programs.ts'
import { MaskedSession } from './masked-session.ts'
import { openCommandSession } from './open-command-session.ts'
import { createRunSpec } from './run-spec.ts'

/**
 * Runs a command in a workspace, in ten steps, each an event (`coppice:exec:<step>`). After a failure at any step, what
 * the earlier ones opened is closed. Throws EINVAL for an invalid request, `ExecutionRefusal` (EACCES) for a refused one.
 * A failing command is a result, not an error.
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
  const state = new ExecutionState({ continues: true })
  const mutex = new Mutex()
  return {
    run: (input, more) => mutex.run(() => new Execution(input, { ...options, ...more }, state).run()),
    [Symbol.asyncDispose]: () => mutex.run(() => state[Symbol.asyncDispose]()),
  }
}

const STEPS_AFTER_RUN: readonly ExecutionStep[] = ['summarise', 'result']

class Execution {
  readonly #id = createRandomId()
  readonly #input: ExecutionRequestInput
  readonly #options: ExecuteOptions
  readonly #state: ExecutionState
  /** The PATH of a command to which a rule grants the network. */
  #hostPath: string | undefined
  /** The policy, with all hosts that the command may reach. */
  #policy: PolicyRules = { rules: [] }

  constructor(input: ExecutionRequestInput, options: ExecuteOptions, state: ExecutionState) {
    this.#input = input
    this.#options = options
    this.#state = state
  }

  async run(): Promise<ExecutionResult> {
    const request = await this.#step('validate', () => executionRequest(this.#input))
    const workspace = await this.#step('resolve', () =>
      this.#state.ensureWorkspace(request, () => this.#options.open(request)),
    )
    const { policy, allowedHosts, asksToReadOutside = false } = this.#options
    this.#policy = { ...(await addAllowedHosts(request, policy, allowedHosts)), asksToReadOutside }
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
    const { signal, watchCheckout: watch } = this.#options
    const baseline = await this.#step('baseline', () =>
      this.#state.ensureBaseline(() => workspace.baseline(request.session, { signal, watch })),
    )
    const checkpoint = await this.#step('checkpoint', () =>
      isCheckpointWanted(request, decision) ? workspace.checkpoint() : null,
    )
    const started = await this.#step('session', () =>
      this.#state.ensureSession(() =>
        openCommandSession(request, workspace, baseline.session, this.#options),
      ),
    )
    const { session } = started
    await this.#assertInside(request, session, decision)
    const left = recordStart(started, workspace, this.#options)
    await using network = await this.#openNetwork(request, decision, session)
    const spec = createRunSpec(request, this.#options, {
      session,
      network,
      forkName: workspace.forkName,
      hostPath: this.#hostPath,
      beforeCommand: () => this.#writeJournal(request, decision, { event: 'requested' }),
    })
    const outcome = await this.#step('run', async () => {
      const { onOutput } = this.#options
      const ended = network.addNotices(await session.run(spec))
      const { kind } = session
      return addFailureNotice(ended, { kind, directory: request.vault, env: spec.env }, onOutput)
    })
    const summary = await this.#step('summarise', () =>
      collectChanges(
        { ...started, request, workspace, left, continues: this.#state.continues },
        this.#options,
      ),
    )
    return this.#step('result', async () => {
      const connections = network.listConnections()
      const parts = { request, decision, session, outcome, connections, ...summary }
      const result = createResult({ ...parts, checkpoint: checkpoint ?? summary.checkpoint })
      await this.#writeJournal(request, decision, { event: 'completed', ...toCompletion(result) })
      return result
    })
  }

  async #decide(request: ExecutionRequest, { directory }: ExecutionWorkspace): Promise<ExecutionDecision> {
    assertMountpoint(request, directory)
    // Only now is the workspace's path known. A host path into the workspace is not outside of it.
    const placed = directory === undefined ? request : { ...request, mountpoint: directory }
    const { explanation, privatePaths } = await this.#explain(placed, this.#policy)
    const { decision, networkPrograms } = explanation
    if (networkPrograms.length === 0) return decision
    // The command controls the programs in its private directories, too.
    const roots = [...(directory === undefined ? [] : [directory]), ...(privatePaths?.directories ?? [])]
    const { path, problem } = await findHostPrograms(explanation, this.#options.env?.['PATH'] ?? '', roots)
    this.#hostPath = path
    if (problem === undefined) return decision
    const reason = `${problem}, so no rule grants it the network; it needs approval`
    return { ...decision, action: 'require_approval', reason }
  }

  /**
   * Decides again with the path of the session. If that is not the directory itself, the directory is outside of the
   * workspace. Throws `ExecutionRefusal` if the command is then denied.
   */
  async #assertInside(
    request: ExecutionRequest,
    { path: mountpoint }: CommandSession,
    { action }: ExecutionDecision,
  ): Promise<void> {
    // It is too late for a question that nobody was asked.
    const asksToReadOutside = this.#policy.asksToReadOutside === true && action === 'require_approval'
    const policy = { ...this.#policy, asksToReadOutside }
    const { explanation } = await this.#explain({ ...request, mountpoint }, policy)
    const { decision } = explanation
    if (decision.action === 'deny') throw new ExecutionRefusal(request.vault, decision)
  }

  #explain(request: ExecutionRequest, policy: PolicyRules): Promise<IsolatedExplanation> {
    const { userHome, env, join } = this.#options
    const shellDirectory = env?.['PWD']
    return explainIsolated(request, policy, { userHome, shellDirectory, isJoined: join !== undefined })
  }

  /**
   * Throws `ExecutionRefusal` for a request that may not run. It leaves a line in the journal and, if a person can
   * approve it, a waiting request.
   */
  async #gate(request: ExecutionRequest, decision: ExecutionDecision): Promise<void> {
    const { approvals, answered, forkName } = this.#options
    const isGated = decision.action === 'require_approval'
    if (isGated && (await approvals?.isDenied(request)) === true) {
      await this.#writeJournal(request, decision, { event: 'refused', approval: null })
      throw new ExecutionRefusal(request.vault, decision, { answer: 'no' })
    }
    const isApproved = isGated && (await approvals?.consume(request, answered)) === true
    // A person has seen and approved the request as it is.
    if (isApproved) this.#hostPath = undefined
    if (decision.action !== 'deny' && (!isGated || isApproved)) return
    const approval = isGated ? await approvals?.request(request, decision, forkName) : undefined
    await this.#writeJournal(request, decision, { event: 'refused', approval: approval ?? null })
    throw new ExecutionRefusal(request.vault, decision, { approval })
  }

  #openNetwork(
    request: ExecutionRequest,
    decision: ExecutionDecision,
    session: CommandSession,
  ): Promise<ExecutionNetwork> {
    const { onOutput } = this.#options
    const options = { ...this.#options, inject: this.#listInjected(session) }
    return ExecutionNetwork.open(request, decision, this.#policy, options, (line) =>
      onOutput?.('stderr', Buffer.from(line)),
    )
  }

  /** Returns the secrets that the proxy puts into requests. Only a command that does not see the values gets that. */
  #listInjected(session: CommandSession): CommandNetworkOptions['inject'] {
    const { mask, env = {} } = this.#options
    if (mask?.inject === undefined || !(session instanceof MaskedSession)) return undefined
    return { secrets: session.mask.listBoundSecrets(mask.inject), home: mask.inject.home, env }
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
