import type { VaultInfo } from '../../backends/vault/index.ts'
import { type RunningFork, RunningForks } from '../../boundary/index.ts'
import { formatTreeRef, type Page, type PageParams, type WebTree } from '../../web-api/index.ts'
import { LinkedDirectory, type LinkedFork } from '../../workspace/index.ts'
import { mapPage, paginate } from '../paginate.ts'
import { isTrialName } from '../trial-name.ts'
import type { WebContext } from '../web-context.ts'
import { ignoreMissing } from './home-trees.ts'

/** Changes of a fork that are counted at most. */
const MAX_COUNTED = 10_000
/** Counts in the cache. */
const MAX_CACHED = 1000

/** A tree before its changes are counted. */
interface ListedTree {
  readonly name: string
  readonly directory?: string
  readonly fork?: LinkedFork
  readonly info?: VaultInfo
}

/** Lists vaults, directories and their forks. Counts are kept until a tree changes. */
export class TreeList {
  readonly #web: WebContext
  readonly #counts = new Map<string, number | null>()

  constructor(web: WebContext) {
    this.#web = web
  }

  async list(page: PageParams): Promise<Page<WebTree>> {
    const running = RunningForks.of(this.#web.path).list()
    const vaultNames = new Set(await this.#web.home.vaults())
    const listed = await this.#listAll(running)
    return mapPage(paginate(listed, page), (tree) => this.#describe(tree, running, vaultNames))
  }

  /** Lists directories with their forks first, then vaults by name. */
  async #listAll(running: readonly RunningFork[]): Promise<ListedTree[]> {
    const { trees, home } = this.#web
    const names = (await trees.listVaults()).filter((name) => !isTrialName(name))
    const directories = await trees.listDirectories()
    const forks = new Map([...directories.values()].flat().map((fork) => [fork.name, fork]))
    const all = new Set([...directories.keys(), ...running.map(({ directory }) => directory)])
    const listed: ListedTree[] = [...all].sort().flatMap((directory) => [
      { name: directory, directory },
      ...(directories.get(directory) ?? [])
        .filter(({ name }) => !isTrialName(name))
        .map((fork) => ({ name: fork.name, directory, fork })),
      ...running
        .filter((each) => each.directory === directory && !forks.has(each.fork))
        .map(({ fork }) => ({
          name: fork,
          directory,
          fork: { name: fork, mirror: '', used: new Date(0) },
        })),
    ])
    for (const name of names.filter((each) => !forks.has(each))) {
      const info = await home.info(name).catch(ignoreMissing)
      if (info !== undefined) listed.push({ name, info })
    }
    return listed
  }

  async #describe(
    { name, directory, fork, info }: ListedTree,
    running: readonly RunningFork[],
    vaultNames: ReadonlySet<string>,
  ): Promise<WebTree> {
    const active = running.filter((each) => fork !== undefined && each.fork === name)
    const shared = {
      name,
      commands: active.map(({ command, since }) => ({ command, since: new Date(since).toISOString() })),
      pids: this.#listPids(name),
      ports: active.flatMap(({ ports = [] }) =>
        ports.map(({ port, url, address }) => ({ port, url, address })),
      ),
    }
    const none = { time: null, changes: null, seq: null, checkpoints: 0, canUndo: false }
    if (directory !== undefined && fork === undefined) {
      const tree = formatTreeRef({ kind: 'directory', path: directory })
      return { tree, kind: 'directory', parent: null, ...none, ...shared }
    }
    if (directory !== undefined && fork !== undefined) {
      const tree = formatTreeRef({ kind: 'fork', name })
      const parent = formatTreeRef({ kind: 'directory', path: directory })
      // A new fork whose first command still runs is not stored yet.
      const about = fork.mirror === '' ? none : await this.#describeFork(directory, fork)
      return { tree, kind: 'fork', parent, ...about, ...shared }
    }
    const from = info?.from?.vault
    const parent =
      from !== undefined && vaultNames.has(from) ? formatTreeRef({ kind: 'vault', name: from }) : null
    return {
      tree: formatTreeRef({ kind: 'vault', name }),
      kind: 'vault',
      parent,
      time: info?.created.toISOString() ?? null,
      ...(await this.#countVault(name, from !== undefined)),
      checkpoints: info?.checkpoints ?? 0,
      canUndo: await this.#web.home.canUndoMerge(name),
      ...shared,
    }
  }

  async #describeFork(
    directory: string,
    fork: LinkedFork,
  ): Promise<Pick<WebTree, 'time' | 'changes' | 'seq' | 'checkpoints' | 'canUndo'>> {
    const { home } = this.#web
    const [vault, mirror] = [await home.vault(fork.name), await home.vault(fork.mirror)]
    const [seq, base] = [await vault.getLastRow(), await mirror.getLastRow()]
    const link = openIfPresent(() => new LinkedDirectory(home, directory))
    return {
      time: fork.used.toISOString(),
      changes: await this.#count(`${fork.name}/${seq}/${base}`, () => vault.diff({ vault: fork.mirror })),
      seq,
      checkpoints: (await vault.checkpoints()).length,
      canUndo: link === undefined ? false : await link.isApplied(fork),
    }
  }

  async #countVault(name: string, isFork: boolean): Promise<Pick<WebTree, 'changes' | 'seq'>> {
    const vault = await this.#web.home.vault(name)
    const seq = await vault.getLastRow()
    return { seq, changes: isFork ? await this.#count(`${name}/${seq}`, () => vault.diff()) : null }
  }

  async #count(key: string, diff: () => AsyncIterable<unknown>): Promise<number | null> {
    const cached = this.#counts.get(key)
    if (cached !== undefined) return cached
    let count: number | null = 0
    for await (const _change of diff()) if (++count > MAX_COUNTED) break
    if (count > MAX_COUNTED) count = null
    this.#counts.set(key, count)
    const [oldest] = this.#counts.keys()
    if (this.#counts.size > MAX_CACHED && oldest !== undefined) this.#counts.delete(oldest)
    return count
  }

  #listPids(name: string): number[] {
    return this.#web.agents
      .ps(false)
      .filter(({ fork }) => fork === name)
      .map(({ pid }) => pid)
  }
}

/** Opens a directory; undefined if it was deleted while its forks stay. */
function openIfPresent(open: () => LinkedDirectory): LinkedDirectory | undefined {
  try {
    return open()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
