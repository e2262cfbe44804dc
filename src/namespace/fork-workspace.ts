import { getCallerContext } from '../access/index.ts'
import type { Home, OnConflict } from '../backends/vault/index.ts'
import type { TreePair } from '../diff/index.ts'
import type { LogEntry, NamedPoint, Workspace } from '../tools/index.ts'
import { type CallContext, type PathChange, VfsError } from '../vfs/index.ts'
import type { TreeChange } from '../workspace/index.ts'
import { compareWithCheckpoint } from './checkpoint-diff.ts'
import { LinkedCommands } from './linked-commands.ts'
import { toNamespaceChange, toNamespacePath, toNamespaceReport } from './namespace-paths.ts'
import type { OpenedFork } from './open-fork.ts'
import { assertNotReserved } from './open-workspace.ts'
import { patchChanges } from './patch-changes.ts'
import { type CommandSettings, WorkspaceCommands } from './workspace-commands.ts'

/** A fork of a directory as the workspace of a caller. Nothing here changes the directory. */
export class ForkWorkspace implements Workspace {
  readonly path: string
  readonly #home: Home
  readonly #opened: OpenedFork
  readonly exec?: NonNullable<Workspace['exec']>

  /** @param commands settings of commands, if they may run. */
  constructor(home: Home, opened: OpenedFork, path: string, commands: CommandSettings | undefined) {
    this.#home = home
    this.#opened = opened
    this.path = path
    if (commands === undefined) return
    const runner = new WorkspaceCommands(home, new LinkedCommands(opened), commands)
    this.exec = async (command, call) => {
      const report = await runner.run(command, call)
      return toNamespaceReport(path, report)
    }
  }

  get name(): string {
    return this.#opened.fork.name
  }

  get directory(): string {
    return this.#opened.link.path
  }

  async fork(name: string, at?: string): Promise<NamedPoint> {
    assertNotReserved(name)
    const { link, fork, mutex } = this.#opened
    const copy = await mutex.run(() => link.startFork(name, { fork, at }))
    await link.markUsed(copy)
    return { name: copy.name, time: copy.used }
  }

  checkpoint(name: string): Promise<NamedPoint> {
    const { link, fork, mutex } = this.#opened
    return mutex.run(() => link.checkpoint(fork, name))
  }

  checkpoints(): Promise<readonly NamedPoint[]> {
    return this.#opened.vault.checkpoints()
  }

  async *diff(since?: string): AsyncGenerator<PathChange> {
    const { changes } = await this.#compare(since)
    for await (const change of changes) yield toNamespaceChange(this.path, change)
  }

  async *patch(since?: string): AsyncGenerator<string> {
    const { changes, trees } = await this.#compare(since)
    yield* patchChanges(changes, trees)
  }

  restore(name: string, { caller, trace }: CallContext): Promise<void> {
    const { link, fork, mutex } = this.#opened
    const provenance = { ...(caller !== undefined && { caller }), ...(trace !== undefined && { trace }) }
    return mutex.run(() => link.restore(fork, name, provenance))
  }

  /** Merges another fork of the same directory. */
  merge(name: string, onConflict: OnConflict, { caller, trace }: CallContext): Promise<PathChange[]> {
    const { link, fork, mutex } = this.#opened
    const provenance = { ...(caller !== undefined && { caller }), ...(trace !== undefined && { trace }) }
    const resolution = onConflict === 'markers' ? 'both' : onConflict
    return mutex.run(async () => {
      if ((await link.listForks()).length === 0) {
        const detail = `there is no fork '${name}', nor any other; workspace_fork makes one`
        throw new VfsError('ENOENT', this.path, { op: 'fork', detail })
      }
      const source = await link.getFork(name)
      await link.markUsed(fork)
      const merged = await link.mergeForks(source, fork, { onConflict: resolution, ...provenance })
      return merged.map((change) => toNamespaceChange(this.path, toPathChange(change)))
    })
  }

  async *log(limit: number): AsyncGenerator<LogEntry> {
    let left = limit
    for await (const { seq, time, caller, op, path } of this.#opened.vault.journal({ newestFirst: true })) {
      // The system has copied files of the directory into the fork; the caller did not write them.
      if (caller?.kind === 'system') continue
      if (left-- <= 0) return
      yield { seq, time, caller: getCallerContext(caller), op, path: toNamespacePath(this.path, path) }
    }
  }

  async #compare(since: string | undefined): Promise<{
    readonly changes: AsyncIterable<PathChange>
    readonly trees: TreePair
  }> {
    const { link, fork, vault } = this.#opened
    if (since === undefined) return { changes: link.diff(fork), trees: await link.openTrees(fork) }
    const mirror = await this.#home.vault(fork.mirror)
    return compareWithCheckpoint({ mirror, vault, changes: link.diff(fork) }, since)
  }
}

function toPathChange({ path, before, after }: TreeChange): PathChange {
  if (before === undefined) return { kind: 'added', path }
  return { kind: after === undefined ? 'deleted' : 'modified', path }
}
