import { join } from 'node:path'
import { assertVaultName, type Home, type Vault } from '../backends/vault/index.ts'
import { BOUNDARY_VAULT } from '../config/index.ts'
import type { Redactor } from '../secrets/index.ts'
import { isVfsError, VfsError } from '../vfs/index.ts'
import {
  type ApprovalAnswer,
  Approvals,
  Checkouts,
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
  LinkedDirectory,
  LinkedWorkspace,
  type NegativeAnswer,
  type PolicyRules,
  readPolicy,
  sweepForkPoints,
  VaultWorkspace,
} from '../workspace/index.ts'

/** Parts of the home that an execution needs. */
type ProvidedOptions = 'open' | 'sessions' | 'journal' | 'approvals' | 'answered'

/** Options of one run, beside its request. */
export interface BoundaryRunOptions extends Omit<ExecuteOptions, ProvidedOptions> {
  /** Runs in this fork, which is created if it is missing and the command changes anything. */
  readonly fork?: string | undefined
  /** Asks a person about a gated request. Without it, such a request is refused and waits for approval. */
  readonly ask?:
    | ((decision: ExecutionDecision, request: ExecutionRequest) => Promise<ApprovalAnswer>)
    | undefined
}

/** Result of a command and the vault with its changes; null if it made none. */
export interface RunReport {
  readonly result: ExecutionResult
  readonly fork: string | null
}

/**
 * The execution boundary of a home. The vault of a request is a vault of the home, or the path of a directory of this
 * machine.
 */
export class Boundary {
  readonly approvals: Approvals
  readonly #home: Home
  readonly #path: string
  readonly #sessions: string
  readonly #checkouts: Checkouts
  readonly #journal: ExecutionJournal
  readonly #files: FileJournal
  readonly #policy: PolicyRules
  readonly #redactor: Redactor | undefined

  private constructor(home: Home, path: string, vault: Vault, policy: PolicyRules, redactor?: Redactor) {
    this.#home = home
    this.#path = path
    this.#sessions = join(path, 'sessions')
    this.#checkouts = new Checkouts(home, join(path, 'checkouts'))
    this.#policy = policy
    this.#redactor = redactor
    this.approvals = new Approvals(vault, redactor)
    const journal = new FileJournal(vault)
    this.#files = journal
    this.#journal = {
      append: (line, provenance) => journal.append(redactor?.redactValue(line) ?? line, provenance),
    }
  }

  /**
   * Reads `policy.toml` of the home. The redactor removes secrets from the journal, the approvals and refusals.
   * EINVAL for an invalid file, and for a home in memory: sessions need a directory.
   */
  static async open(home: Home, redactor?: Redactor): Promise<Boundary> {
    const { path } = home
    if (path === undefined)
      throw new VfsError('EINVAL', '/', { op: 'exec', detail: 'a home in memory cannot run commands' })
    const { policy } = await readPolicy(path)
    await sweepForkPoints(home)
    return new Boundary(home, path, await openBoundaryVault(home), policy, redactor)
  }

  /** Yields the executed and refused commands of the home, the newest first. */
  commands(): AsyncIterable<ExecutedCommand> {
    return this.#files.read()
  }

  /** Runs a command. See `execute`. */
  async run(request: ExecutionRequestInput, { ask, ...options }: BoundaryRunOptions): Promise<RunReport> {
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

  /** Removes a denied request from the approvals that wait. */
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
    { fork, hidden = [], ...options }: BoundaryRunOptions & Pick<ExecuteOptions, 'answered'>,
  ): Promise<RunReport> {
    let opened: OpenedWorkspace | undefined
    const result = await execute(request, {
      policy: this.#policy,
      ...options,
      // The home contains every other vault, the journal and the approvals.
      hidden: [this.#path, ...hidden],
      open: async (checked) => {
        opened = await this.#open(checked, fork)
        return opened.workspace
      },
      sessions: this.#sessions,
      journal: this.#journal,
      approvals: this.approvals,
    }).catch((error: unknown) => {
      throw this.#redactRefusal(error)
    })
    return { result, fork: opened?.fork() ?? null }
  }

  #open({ vault }: ExecutionRequest, fork: string | undefined): Promise<OpenedWorkspace> {
    // Checked now: without a valid name the command's changes would be lost.
    if (fork !== undefined) assertVaultName(fork)
    return vault.startsWith('/') ? this.#openLinked(vault, fork) : this.#openVault(vault, fork)
  }

  async #openLinked(directory: string, name: string | undefined): Promise<OpenedWorkspace> {
    const link = this.openLinkedDirectory(directory)
    // Listed also without a name: this reverts a killed apply, so that the command does not see its changes.
    const forks = await link.listForks()
    const known = name === undefined ? undefined : forks.find((fork) => fork.name === name)
    if (name !== undefined && known === undefined) await this.#assertNameFree(name)
    const workspace = new LinkedWorkspace(link, { fork: known, name })
    return { workspace, fork: () => workspace.fork?.name }
  }

  async #openVault(vault: string, name: string | undefined): Promise<OpenedWorkspace> {
    await this.#home.info(vault)
    const isThere = name !== undefined && (await this.#home.vaults()).includes(name)
    if (isThere) await this.#assertForkOf(vault, name)
    const checkouts = this.#checkouts
    const choice = isThere ? { vault: name, checkouts } : { vault, newFork: { name }, checkouts }
    const workspace = new VaultWorkspace(this.#home, choice)
    return { workspace, fork: () => workspace.fork }
  }

  async #assertForkOf(vault: string, name: string): Promise<void> {
    const { from } = await this.#home.info(name)
    if (from?.vault === vault) return
    const detail = `'${name}' is not a fork of '${vault}'; choose another name`
    throw new VfsError('EINVAL', name, { op: 'exec', detail })
  }

  async #assertNameFree(name: string): Promise<void> {
    if (!(await this.#home.vaults()).includes(name)) return
    const detail = `'${name}' is not a fork of this directory; choose another name`
    throw new VfsError('EEXIST', name, { op: 'exec', detail })
  }
}

interface OpenedWorkspace {
  readonly workspace: ExecutionWorkspace
  fork(): string | undefined
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
