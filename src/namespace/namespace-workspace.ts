import { getCallerContext } from '../access/index.ts'
import type { Home, OnConflict, Vault } from '../backends/vault/index.ts'
import type { LogEntry, NamedPoint, Workspace } from '../tools/index.ts'
import { type CallContext, diff, type FileSystem, MemoryFs, type PathChange } from '../vfs/index.ts'
import { MaskedFs } from './masked-fs.ts'
import { toNamespaceChange, toNamespacePath, toNamespaceReport } from './namespace-paths.ts'
import { assertNotReserved } from './open-workspace.ts'
import { patchChanges } from './patch-changes.ts'
import { VaultCommands } from './vault-commands.ts'
import { type CommandSettings, WorkspaceCommands } from './workspace-commands.ts'
import type { WorkspaceSecrets } from './workspace-secrets.ts'

interface WorkspaceParts {
  /** Settings of commands, if they may run. */
  readonly commands?: CommandSettings | undefined
  /** Files whose values the caller does not see. */
  readonly secrets?: WorkspaceSecrets | undefined
}

/** A vault as the workspace of a caller. Changes use paths of the namespace; patches use paths of the project. */
export class NamespaceWorkspace implements Workspace {
  readonly path: string
  readonly #home: Home
  readonly #vault: Vault
  readonly #secrets: WorkspaceSecrets | undefined
  readonly exec?: NonNullable<Workspace['exec']>

  /** It has `exec` only if there are settings of commands and the home is on disk. */
  constructor(home: Home, vault: Vault, path: string, { commands, secrets }: WorkspaceParts = {}) {
    this.#home = home
    this.#vault = vault
    this.path = path
    this.#secrets = secrets
    if (commands === undefined || home.path === undefined) return
    const runner = new WorkspaceCommands(home, new VaultCommands(home, vault), commands)
    this.exec = async (command, call) => {
      const report = await runner.run(command, call)
      return toNamespaceReport(this.path, report)
    }
  }

  get name(): string {
    return this.#vault.name
  }

  async fork(name: string, at?: string): Promise<NamedPoint> {
    assertNotReserved(name)
    await this.#home.fork(this.name, name, at === undefined ? {} : { at })
    const { created: time } = await this.#home.info(name)
    return { name, time }
  }

  checkpoint(name: string): Promise<NamedPoint> {
    return this.#vault.checkpoint(name)
  }

  checkpoints(): Promise<readonly NamedPoint[]> {
    return this.#vault.checkpoints()
  }

  async *diff(since?: string): AsyncGenerator<PathChange> {
    for await (const change of this.#listChanges(since)) yield toNamespaceChange(this.path, change)
  }

  async *patch(since?: string): AsyncGenerator<string> {
    const trees = { before: this.#mask(await this.#getBaseTree(since)), after: this.#mask(this.#vault) }
    yield* patchChanges(this.#listChanges(since), trees)
  }

  restore(name: string, ctx: CallContext): Promise<void> {
    return this.#vault.restore(name, ctx)
  }

  async merge(fork: string, onConflict: OnConflict, { caller, trace }: CallContext): Promise<PathChange[]> {
    const provenance = { ...(caller !== undefined && { caller }), ...(trace !== undefined && { trace }) }
    const changes = await this.#home.merge(fork, this.name, { onConflict, ...provenance })
    return changes.map((change) => toNamespaceChange(this.path, change))
  }

  async *log(limit: number): AsyncGenerator<LogEntry> {
    let left = limit
    for await (const { seq, time, caller, op, path } of this.#vault.journal({ newestFirst: true })) {
      if (left-- <= 0) return
      const name = caller?.kind === 'system' ? 'system' : getCallerContext(caller)
      yield { seq, time, caller: name, op, path: toNamespacePath(this.path, path) }
    }
  }

  async *#listChanges(since: string | undefined): AsyncGenerator<PathChange> {
    if (since !== undefined || (await this.#isFork())) yield* this.#vault.diff(since)
    else yield* diff(new MemoryFs(), this.#vault)
  }

  /** Returns a state of the workspace as its user sees it. */
  #mask(tree: FileSystem): FileSystem {
    return this.#secrets === undefined ? tree : new MaskedFs(tree, this.#secrets.forTree(tree))
  }

  /** Returns the base of a diff: a checkpoint, the fork point, or an empty tree. */
  async #getBaseTree(since: string | undefined): Promise<FileSystem> {
    return since !== undefined || (await this.#isFork()) ? this.#vault.at(since) : new MemoryFs()
  }

  async #isFork(): Promise<boolean> {
    return (await this.#home.info(this.name)).from !== undefined
  }
}
