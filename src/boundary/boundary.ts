import { join } from 'node:path'
import { assertVaultName, type Home, type Vault } from '../backends/vault/index.ts'
import { BOUNDARY_VAULT } from '../config/index.ts'
import { CleanupStack } from '../machine/index.ts'
import type { PublishedPort } from '../network/index.ts'
import type { Redactor } from '../secrets/index.ts'
import { isVfsError, VfsError } from '../vfs/index.ts'
import {
  type ApprovalAnswer,
  Approvals,
  Checkouts,
  type CommandSpec,
  createJoinedWorkspace,
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
  type ExecutionWorkspace,
  execute,
  executionRequest,
  FileJournal,
  type ForkChoice,
  ForkCopies,
  forgetHostSupport,
  HostGrants,
  LinkedDirectory,
  type LinkedFork,
  LinkedWorkspace,
  listRecordedPoints,
  type MaskChoice,
  type NegativeAnswer,
  type PolicyRules,
  readPolicy,
  recallHostSupport,
  sweepForkPoints,
  VaultWorkspace,
} from '../workspace/index.ts'
import { publishPorts } from './publish-ports.ts'
import { claimNewFork, type ForkClaim, type RunningFork, RunningForks } from './running-forks.ts'
import { createReadOnlyHomeError, toUnwritableHomeError } from './unwritable-home.ts'

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

/** A fork of a directory, with the directory. */
interface OpenFork {
  readonly link: LinkedDirectory
  readonly fork: LinkedFork
}

/** Options of one run, beside its request. */
export interface BoundaryRunOptions extends Omit<ExecuteOptions, ProvidedOptions> {
  /** Runs in this fork, which is created if it is missing and the command changes anything. */
  readonly fork?: string | undefined
  /** The fork of a directory that the caller has open, for the name in `fork`. */
  readonly linked?: (Pick<ForkChoice, 'mutex' | 'signal'> & OpenFork) | undefined
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
  /** Asks a person about a gated request. Without it, such a request is refused and waits for approval. */
  readonly ask?:
    | ((decision: ExecutionDecision, request: ExecutionRequest) => Promise<ApprovalAnswer>)
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
  readonly #checkouts: Checkouts
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
    this.#checkouts = new Checkouts(home, join(path, 'checkouts'))
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
    if (this.#home.isReadOnly) throw createReadOnlyHomeError(this.#path)
    try {
      return await this.#run(request, options)
    } catch (error) {
      if (!(error instanceof ExecutionRefusal) || error.approval === undefined || ask === undefined)
        throw error
      const answer = await ask(error.decision, executionRequest(request))
      if (answer !== 'yes') throw await this.#recordDenial(request, error, answer)
      // The answer holds for this run only, not for an equal request.
      return this.#run(request, { ...options, answered: error.approval })
    }
  }

  /** Creates the refusal for an answer. After a `no`, the request no longer waits for approval. */
  async #recordDenial(
    request: ExecutionRequestInput,
    { path, decision, approval }: ExecutionRefusal,
    answer: NegativeAnswer,
  ): Promise<ExecutionRefusal> {
    if (answer !== 'no') return new ExecutionRefusal(path, decision, { approval, answer })
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
        if (joined !== undefined) opened = openJoined(joined)
        else opened = linked === undefined ? await this.#open(checked, fork, keepsCopies) : openFork(linked)
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
    if (!isTrial) await opened?.publish?.(options.by)
    const kept = opened?.fork() ?? null
    copies?.keep(kept ?? undefined)
    if (opened?.claim !== undefined) await copies?.tidy()
    return { result, fork: kept }
  }

  #open(request: ExecutionRequest, fork: string | undefined, keepsEmpty: boolean): Promise<OpenedWorkspace> {
    // Checked now: without a valid name the command's changes would be lost.
    if (fork !== undefined) assertVaultName(fork)
    const { vault } = request
    return vault.startsWith('/') ? this.#openLinked(request, fork, keepsEmpty) : this.#openVault(vault, fork)
  }

  async #openLinked(
    { vault: directory, command }: ExecutionRequest,
    name: string | undefined,
    keepsEmpty: boolean,
  ): Promise<OpenedWorkspace> {
    const link = this.openLinkedDirectory(directory)
    const existing = await this.#findFork(link, name)
    const claimed = await this.#claim(link.path, command, name)
    const isGenerated = name === undefined
    const workspace = new LinkedWorkspace(link, {
      fork: existing,
      name: claimed.name,
      isGenerated,
      keepsEmpty,
    })
    return { workspace, fork: () => workspace.fork?.name, claim: claimed.claim }
  }

  /** Finds the fork of a name; undefined for a free one. EEXIST for the name of a vault: it is no fork of the directory. */
  async #findFork(link: LinkedDirectory, name: string | undefined): Promise<LinkedFork | undefined> {
    // Listed also without a name: this reverts a killed apply, so that the command does not see its changes.
    const forks = await link.listForks()
    const found = forks.find((fork) => fork.name === name)
    if (name === undefined || found !== undefined || !(await this.#home.vaults()).includes(name)) return found
    // Perhaps a command that has ended just now is about to complete it.
    using _lock = await link.lock()
    const completed = await link.findFork(name)
    if (completed !== undefined || !(await this.#home.vaults()).includes(name)) return completed
    const detail = `'${name}' is not a fork of this directory; choose another name`
    throw new VfsError('EEXIST', name, { op: 'exec', detail })
  }

  /**
   * Claims the name of a fork while a command runs in it: the given one, or the first free one. No claim if another
   * command has the given one: two may run in one fork, each in a session of its own.
   */
  async #claim(
    directory: string,
    command: CommandSpec,
    name: string | undefined,
  ): Promise<{ readonly name: string; readonly claim: ForkClaim | undefined }> {
    const line = 'shell' in command ? command.shell : command.argv.join(' ')
    const shown = this.#redactor?.redactValue(line) ?? line
    const claim = (fork: string) => this.#running.claim({ fork, directory, command: shown })
    if (name !== undefined) return { name, claim: claim(name) }
    return claimNewFork(directory, await this.#home.vaults(), claim)
  }

  async #openVault(vault: string, name: string | undefined): Promise<OpenedWorkspace> {
    await this.#home.info(vault)
    const exists = name !== undefined && (await this.#home.vaults()).includes(name)
    if (exists) await this.#assertForkOf(vault, name)
    const source = exists ? name : vault
    const copy = await this.#home.openMachineCopy(source)
    const workspace = new VaultWorkspace(this.#home, {
      vault: copy?.vault ?? source,
      checkouts: this.#checkouts,
      ...(!exists && { newFork: { name, stem: vault } }),
    })
    if (copy === undefined) return { workspace, fork: () => workspace.fork }
    const publish = async (by: ExecuteOptions['by']) => {
      if (exists) await copy.merge(by)
      else if (workspace.fork !== undefined) await copy.publishFork(workspace.fork)
    }
    return { workspace, fork: () => (exists ? name : workspace.fork), publish, copy }
  }

  /** EINVAL for a vault that is not a fork of the other. */
  async #assertForkOf(vault: string, name: string): Promise<void> {
    const { from } = await this.#home.info(name)
    if (from?.vault === vault) return
    const detail = `'${name}' is not a fork of '${vault}'; choose another name`
    throw new VfsError('EINVAL', name, { op: 'exec', detail })
  }
}

/** The workspace of a run, and what is released or published at its end. */
interface OpenedWorkspace {
  readonly workspace: ExecutionWorkspace
  /** Returns the name of the fork with the changes, if there is one by now. */
  fork(): string | undefined
  /** Held until the command has ended and its changes are stored. */
  readonly claim?: ForkClaim | undefined
  /** Brings the changes to the home in a database, of which this machine has a copy until the end of the run. */
  readonly publish?: ((by: ExecuteOptions['by']) => Promise<void>) | undefined
  /** That copy. */
  readonly copy?: AsyncDisposable | undefined
}

function openFork({ link, ...choice }: NonNullable<BoundaryRunOptions['linked']>): OpenedWorkspace {
  const workspace = new LinkedWorkspace(link, { ...choice, name: choice.fork.name })
  return { workspace, fork: () => workspace.fork?.name }
}

function openJoined({ fork, directory }: RunningFork): OpenedWorkspace {
  return { workspace: createJoinedWorkspace(directory, fork), fork: () => fork }
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
