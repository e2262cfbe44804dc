import { join } from 'node:path'
import type { Home, Vault } from '../backends/vault/index.ts'
import { BOUNDARY_VAULT } from '../config/index.ts'
import { CleanupStack } from '../machine/index.ts'
import { coversHostRule, type HostRule, type PublishedPort, parseHostRule } from '../network/index.ts'
import type { Redactor } from '../secrets/index.ts'
import { isVfsError, VfsError } from '../vfs/index.ts'
import {
  type ApprovalAnswer,
  Approvals,
  Checkouts,
  createMaskSettings,
  createTrialWorkspace,
  type ExecutedCommand,
  type ExecuteOptions,
  type ExecutionDecision,
  type ExecutionJournal,
  ExecutionRefusal,
  type ExecutionRequest,
  type ExecutionRequestInput,
  type ExecutionResult,
  execute,
  executionRequest,
  FileJournal,
  ForkCopies,
  forgetHostSupport,
  type GrantScope,
  type HostGrant,
  HostGrants,
  LinkedDirectory,
  listRecordedPoints,
  type MaskChoice,
  type NegativeAnswer,
  type PolicyRules,
  readPolicy,
  recallHostSupport,
  sweepForkPoints,
} from '../workspace/index.ts'
import { publishPorts } from './publish-ports.ts'
import { type RunningFork, RunningForks } from './running-forks.ts'
import { createReadOnlyHomeError, createReadOnlyRoleError, toUnwritableHomeError } from './unwritable-home.ts'
import { type LinkedForkChoice, type OpenedWorkspace, WorkspaceOpener } from './workspace-opener.ts'

/** Options of `execute` that the boundary sets itself. */
type ProvidedOptions =
  | 'open'
  | 'sessions'
  | 'journal'
  | 'approvals'
  | 'answered'
  | 'forkName'
  | 'copies'
  | 'onStored'
  | 'join'
  | 'onStart'
  | 'mask'

/** Options of one run, beside its request. */
export interface BoundaryRunOptions extends Omit<ExecuteOptions, ProvidedOptions> {
  /** Runs in this fork, which is created if it is missing and the command changes anything. */
  readonly fork?: string | undefined
  /** The fork of a directory that the caller has open, for the name in `fork`. */
  readonly linked?: LinkedForkChoice | undefined
  /** Runs in this session, beside the command that runs there. That one keeps the changes. */
  readonly join?: RunningFork | undefined
  /** Discards what the command changes. */
  readonly isTrial?: boolean | undefined
  /** Gives these ports of the fork an address on this machine. Default: those on which programs listen. */
  readonly ports?: readonly number[] | undefined
  /** Called for a port of the fork that is open and has its addresses. */
  readonly onPort?: ((port: PublishedPort) => void) | undefined
  /** Masks the values of files of the project. */
  readonly mask?: MaskChoice | undefined
  /**
   * Asks a person about a gated request. Without it, such a request is refused and waits for approval. The signal
   * withdraws the question, because the request was approved or denied elsewhere.
   */
  readonly ask?:
    | ((
        decision: ExecutionDecision,
        request: ExecutionRequest,
        signal: AbortSignal,
      ) => Promise<ApprovalAnswer>)
    | undefined
}

/** Report of a run. */
export interface RunReport {
  readonly result: ExecutionResult
  /** Name of the fork with the command's changes; null if there is none. */
  readonly fork: string | null
}

/**
 * The execution boundary of a home. The vault of a request is a vault of the home, or the path of a directory of this
 * machine.
 */
export class Boundary {
  readonly approvals: Approvals
  readonly hostGrants: HostGrants
  readonly #home: Home
  readonly #path: string
  readonly #sessions: string
  readonly #running: RunningForks
  readonly #support: string
  readonly #opener: WorkspaceOpener
  readonly #copies: ForkCopies
  readonly #journal: ExecutionJournal
  readonly #fileJournal: FileJournal
  readonly #policy: PolicyRules
  readonly #redactor: Redactor | undefined

  private constructor(home: Home, path: string, vault: Vault, policy: PolicyRules, redactor?: Redactor) {
    this.#home = home
    this.#path = path
    this.#sessions = join(path, 'sessions')
    this.#running = RunningForks.of(path)
    this.#support = join(path, 'host-support.json')
    const checkouts = new Checkouts(home, join(path, 'checkouts'))
    this.#opener = new WorkspaceOpener(home, { checkouts, running: this.#running, redactor })
    this.#copies = new ForkCopies(path, () => home.vaults())
    this.#policy = policy
    this.#redactor = redactor
    this.approvals = new Approvals(vault, redactor)
    this.hostGrants = new HostGrants(vault)
    const journal = new FileJournal(vault)
    this.#fileJournal = journal
    this.#journal = {
      append: (line, provenance) => journal.append(redactor?.redactValue(line) ?? line, provenance),
    }
  }

  /**
   * Opens the boundary of a home, by the rules of its `policy.toml`. The redactor removes secrets from the journal, the
   * approvals and refusals. EINVAL for an invalid `policy.toml`, and for a home in memory: sessions need a directory.
   */
  static async open(home: Home, redactor?: Redactor): Promise<Boundary> {
    const { path } = home
    if (path === undefined)
      throw new VfsError('EINVAL', '/', { op: 'exec', detail: 'a home in memory cannot run commands' })
    const { policy } = await readPolicy(path)
    await sweepForkPoints(home, listRecordedPoints(path))
    return new Boundary(home, path, await openBoundaryVault(home), policy, redactor)
  }

  /** Yields the executed and refused commands of the home, the newest first. */
  commands(): AsyncIterable<ExecutedCommand> {
    return this.#fileJournal.read()
  }

  /** Runs a command, and asks about it if it needs approval. EROFS in a read-only home. See `execute`. */
  async run(request: ExecutionRequestInput, { ask, ...options }: BoundaryRunOptions): Promise<RunReport> {
    if (this.#home.isReadOnly)
      throw this.#home.isShared ? createReadOnlyRoleError(this.#path) : createReadOnlyHomeError(this.#path)
    for (let answered: string | undefined; ; ) {
      try {
        return await this.#run(request, { ...options, answered })
      } catch (error) {
        if (!(error instanceof ExecutionRefusal) || error.approval === undefined || ask === undefined)
          throw error
        const withdrawal = new AbortController()
        const { signal } = withdrawal
        const checked = executionRequest(request)
        const answer = await Promise.race([
          ask(error.decision, checked, signal),
          this.#waitForDecision(error.approval, checked, { fork: options.fork, signal }),
        ]).finally(() => withdrawal.abort())
        // Decided elsewhere. An approval is for one of the runs that wait for it; the others ask again.
        if (answer === undefined) continue
        if (answer !== 'yes') throw await this.#recordDenial(request, error, answer)
        // The answer holds for this run only, not for an equal request.
        answered = error.approval
      }
    }
  }

  /** Resolves once a waiting request is decided elsewhere: approved, denied, or its hosts allowed for longer. */
  async #waitForDecision(
    id: string,
    { vault, hosts = [] }: ExecutionRequest,
    { fork, signal }: { fork: string | undefined; signal: AbortSignal },
  ): Promise<undefined> {
    for await (const record of this.approvals.watch(id, signal)) {
      if (record !== undefined && (record.approved !== null || record.denied !== undefined)) return
      if (record !== undefined || hosts.length === 0) continue
      if (await this.#areAllowed(hosts, { vault, fork })) return
    }
  }

  /** Allows hosts for a project or a fork. The commands there that waited for these alone go on. */
  async grantHosts(rules: readonly HostRule[], scope: GrantScope, expires?: Date): Promise<HostGrant[]> {
    const grants = await this.hostGrants.grant(rules, scope, expires)
    await this.approvals.withdrawAllowed(
      async ({ hosts = [], ...waiting }) => hosts.length > 0 && this.#areAllowed(hosts, waiting),
    )
    return grants
  }

  async #areAllowed(hosts: readonly string[], scope: GrantScope): Promise<boolean> {
    const granted = await this.hostGrants.find(scope)
    return hosts.every((host) => granted.some((rule) => coversHostRule(rule, parseHostRule(host))))
  }

  /** Creates the refusal for an answer. After a `no`, the request no longer waits for approval. */
  async #recordDenial(
    request: ExecutionRequestInput,
    { path, decision, approval }: ExecutionRefusal,
    answer: NegativeAnswer,
  ): Promise<ExecutionRefusal> {
    if (answer !== 'no' && answer !== 'declined')
      return new ExecutionRefusal(path, decision, { approval, answer })
    await this.approvals.withdraw(executionRequest(request))
    return new ExecutionRefusal(path, decision, { answer })
  }

  /** Redacts the reason of a refusal: it quotes the command, and errors end up in logs. */
  #redactRefusal(error: unknown): unknown {
    if (!(error instanceof ExecutionRefusal) || this.#redactor === undefined) return error
    const { path, decision, approval, answer } = error
    return new ExecutionRefusal(path, this.#redactor.redactValueForReview(decision), { approval, answer })
  }

  openLinkedDirectory(directory: string): LinkedDirectory {
    return new LinkedDirectory(this.#home, directory)
  }

  async #run(
    request: ExecutionRequestInput,
    {
      fork,
      mask,
      linked,
      join: joined,
      hidden = [],
      allowedHosts = [],
      isTrial = false,
      ports,
      onPort,
      ...options
    }: BoundaryRunOptions & Pick<ExecuteOptions, 'answered'>,
  ): Promise<RunReport> {
    let opened: OpenedWorkspace | undefined
    const granted = await this.hostGrants.find({ vault: request.vault, fork })
    const keepsCopies = options.visible?.some(({ mode }) => mode === 'copy') === true
    await using copies = keepsCopies ? await this.#copies.open(fork) : undefined
    await using claims = new CleanupStack()
    const recordSupport = await recallHostSupport(this.#support)
    const result = await execute(request, {
      policy: this.#policy,
      ...options,
      // The home contains every other vault, the journal and the approvals.
      hidden: [this.#path, ...hidden],
      allowedHosts: [...allowedHosts, ...granted],
      // An approval names the fork only for a directory.
      forkName: request.vault.startsWith('/') ? fork : undefined,
      copies: copies?.path,
      onStored: (stored) => copies?.keep(stored),
      mask: mask && createMaskSettings(this.#path, mask),
      open: async (checked) => {
        opened = await this.#opener.open(checked, { fork, linked, joined, keepsEmpty: keepsCopies })
        if (opened.claim !== undefined) claims.use(opened.claim)
        if (opened.copy !== undefined) claims.use(opened.copy)
        return isTrial ? createTrialWorkspace(opened.workspace) : opened.workspace
      },
      join: joined?.session,
      onStart: (session) => {
        if (opened?.claim === undefined) return
        const { claim } = opened
        claim.start(session)
        claims.use(publishPorts(session, { claim, running: this.#running, ports, onPort }))
      },
      sessions: this.#sessions,
      journal: this.#journal,
      approvals: this.approvals,
    }).catch((error: unknown) => {
      // A command that could not be started, perhaps because the machine was changed.
      if (isVfsError(error, 'EIO')) forgetHostSupport(this.#support)
      throw toUnwritableHomeError(this.#path, this.#redactRefusal(error))
    })
    recordSupport()
    const kept = opened?.fork() ?? null
    copies?.keep(kept ?? undefined)
    if (opened?.claim !== undefined) await copies?.tidy()
    return { result, fork: kept }
  }
}

async function openBoundaryVault(home: Home): Promise<Vault> {
  try {
    return await home.vault(BOUNDARY_VAULT)
  } catch (error) {
    if (!isVfsError(error, 'ENOENT')) throw error
  }
  try {
    return await home.createVault(BOUNDARY_VAULT)
  } catch (error) {
    // Another process was faster.
    if (!isVfsError(error, 'EEXIST')) throw error
    return home.vault(BOUNDARY_VAULT)
  }
}
