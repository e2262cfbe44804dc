import { assertVaultName, type Home } from '../backends/vault/index.ts'
import type { Redactor } from '../secrets/index.ts'
import { VfsError } from '../vfs/index.ts'
import {
  type Checkouts,
  type CommandSpec,
  createJoinedWorkspace,
  type ExecutionRequest,
  type ExecutionWorkspace,
  type ForkChoice,
  findForkByName,
  LinkedDirectory,
  type LinkedFork,
  LinkedWorkspace,
  VaultWorkspace,
} from '../workspace/index.ts'
import { claimNewFork, type ForkClaim, type RunningFork, type RunningForks } from './running-forks.ts'

/** The fork in which a command runs. */
export interface WorkspaceChoice {
  /** Name of the fork, which may be missing. Default: a new fork with a free name. */
  readonly fork?: string | undefined
  /** The fork of a directory that the caller has open. */
  readonly linked?: LinkedForkChoice | undefined
  /** The session that the command joins. */
  readonly joined?: RunningFork | undefined
  /** Keeps a new fork of a directory even if the command changes nothing. */
  readonly keepsEmpty: boolean
}

/** A fork of a directory that the caller has open, with the directory. */
export interface LinkedForkChoice extends Pick<ForkChoice, 'mutex' | 'signal'> {
  readonly link: LinkedDirectory
  readonly fork: LinkedFork
}

/** The workspace of a run, and what is released at its end. */
export interface OpenedWorkspace {
  readonly workspace: ExecutionWorkspace
  /** Returns the name of the fork with the changes, if there is one by now. */
  fork(): string | undefined
  /** Held until the command has ended and its changes are stored. */
  readonly claim?: ForkClaim | undefined
  /** Copy of the vault of a database, for the run. */
  readonly copy?: AsyncDisposable | undefined
}

export interface WorkspaceOpenerOptions {
  readonly checkouts: Checkouts
  /** Has the claims on the names of forks. */
  readonly running: RunningForks
  /** Removes secrets from the command of a claim. */
  readonly redactor: Redactor | undefined
}

/** Opens the vault or directory of a request as a workspace, and claims the name of its fork. */
export class WorkspaceOpener {
  readonly #home: Home
  readonly #checkouts: Checkouts
  readonly #running: RunningForks
  readonly #redactor: Redactor | undefined

  constructor(home: Home, { checkouts, running, redactor }: WorkspaceOpenerOptions) {
    this.#home = home
    this.#checkouts = checkouts
    this.#running = running
    this.#redactor = redactor
  }

  /** EINVAL for an invalid name of a fork, or one of another vault; EEXIST for a name that a vault has. ENOENT. */
  async open(request: ExecutionRequest, choice: WorkspaceChoice): Promise<OpenedWorkspace> {
    const { fork, linked, joined } = choice
    if (joined !== undefined) return openJoined(joined)
    if (linked !== undefined) return openFork(linked)
    // Checked now: without a valid name the command's changes would be lost.
    if (fork !== undefined) assertVaultName(fork)
    return request.vault.startsWith('/')
      ? this.#openDirectory(request, choice)
      : this.#openVault(request.vault, fork)
  }

  async #openDirectory(
    { vault: directory, command }: ExecutionRequest,
    { fork: name, keepsEmpty }: WorkspaceChoice,
  ): Promise<OpenedWorkspace> {
    const link = new LinkedDirectory(this.#home, directory)
    const existing = await this.#findFork(link, name)
    const claimed = await this.#claim(link.path, command, name)
    // Another process works in it, and might delete it at its end as one without changes.
    if (existing !== undefined && claimed.claim === undefined) await link.joinFork(existing)
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
    // Listed also without a name: this completes or reverts a killed apply, so that the command sees no half of it.
    const forks = await link.listForks()
    const found = forks.find((fork) => fork.name === name)
    if (name === undefined || found !== undefined || !(await this.#home.vaults()).includes(name)) return found
    // Perhaps a command that has ended just now is about to complete it.
    using _lock = await link.lock()
    const completed = await link.findFork(name)
    if (completed !== undefined || !(await this.#home.vaults()).includes(name)) return completed
    const other = await findForkByName(this.#home, name)
    const what = other === undefined ? 'a vault' : `a fork of ${other.directory}`
    const detail = `'${name}' is ${what}; choose another name`
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
      copyOf: copy && source,
      publish: copy && ((made, by) => (exists ? copy.merge(by) : copy.publishFork(made))),
      checkouts: this.#checkouts,
      ...(!exists && { newFork: { name, stem: vault } }),
    })
    return { workspace, fork: () => (exists ? name : workspace.fork), copy }
  }

  /** EINVAL for a vault that is not a fork of the other. */
  async #assertForkOf(vault: string, name: string): Promise<void> {
    const { from } = await this.#home.info(name)
    if (from?.vault === vault) return
    const detail = `'${name}' is not a fork of '${vault}'; choose another name`
    throw new VfsError('EINVAL', name, { op: 'exec', detail })
  }
}

function openFork({ link, ...choice }: LinkedForkChoice): OpenedWorkspace {
  const workspace = new LinkedWorkspace(link, { ...choice, name: choice.fork.name })
  return { workspace, fork: () => workspace.fork?.name }
}

function openJoined({ fork, directory }: RunningFork): OpenedWorkspace {
  return { workspace: createJoinedWorkspace(directory, fork), fork: () => fork }
}
