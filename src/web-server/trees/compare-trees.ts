import type { Home } from '../../backends/vault/index.ts'
import { listFileChanges, type TreePair } from '../../diff/index.ts'
import { isChangeOfGit } from '../../git-files/index.ts'
import { type CallContext, diff, diffCandidates, type PathChange } from '../../vfs/index.ts'
import type { TreeName } from '../../web-api/index.ts'
import type { HomeTrees, OpenTreeRef } from './home-trees.ts'

/** Comparisons in the cache, so that the pages of one list are of one comparison. */
const MAX_CACHED = 8
/** Age up to which a comparison with a directory is used again. It is short: a directory changes without notice. */
const MAX_AGE_MS = 5000

/** The changes from one tree to another. */
export interface ComparedTrees {
  readonly changes: readonly PathChange[]
  readonly trees: TreePair
}

interface CachedComparison {
  readonly key: string
  /** Time until which it is used, of `performance.now`. */
  readonly until: number
  readonly comparison: Promise<ComparedTrees>
}

/** Compares trees of a home, and keeps the last comparisons. Callers at the same time share one. */
export class TreeComparisons {
  readonly #trees: HomeTrees
  #cached: readonly CachedComparison[] = []

  constructor(trees: HomeTrees) {
    this.#trees = trees
  }

  /**
   * Returns the changes of files between two trees, those of what git keeps by itself last. EINVAL, ENOENT for a name.
   */
  async compare(from: TreeName, to: TreeName, ctx: CallContext): Promise<ComparedTrees> {
    const [before, after] = [await this.#trees.open(from), await this.#trees.open(to)]
    const { home } = this.#trees
    const key = JSON.stringify([from, to, await getPosition(before, home), await getPosition(after, home)])
    const now = performance.now()
    const cached = this.#cached.find((each) => each.key === key && each.until > now)
    // A failure may be that of the other caller alone, who has left.
    if (cached !== undefined) return cached.comparison.catch(() => this.compare(from, to, ctx))
    const comparison = this.#compare(before, after, ctx)
    const until = isStored(before, after) ? Number.POSITIVE_INFINITY : now + MAX_AGE_MS
    const added = { key, until, comparison }
    this.#cached = [added, ...this.#cached.filter((each) => each.key !== key)].slice(0, MAX_CACHED)
    comparison.catch(() => {
      this.#cached = this.#cached.filter((each) => each !== added)
    })
    return comparison
  }

  /** Forgets all comparisons, because something was changed. */
  clear(): void {
    this.#cached = []
  }

  async #compare(before: OpenTreeRef, after: OpenTreeRef, ctx: CallContext): Promise<ComparedTrees> {
    const own = findOwnFork(before, after)
    const trees = own === undefined ? await this.#openPair(before, after) : await own.link.openTrees(own.fork)
    const changes = own === undefined ? this.#listChanges(before, after, trees, ctx) : own.link.diff(own.fork)
    return { trees, changes: putGitLast(await Array.fromAsync(listFileChanges(changes, trees, ctx))) }
  }

  /**
   * Opens both trees. A vault as it is now is opened as a moment too: two moments are compared in time of their
   * changes.
   */
  async #openPair(before: OpenTreeRef, after: OpenTreeRef): Promise<TreePair> {
    const open = async ({ ref, vault, fs }: OpenTreeRef) =>
      ref.kind === 'vault' && ref.at === undefined && vault !== undefined ? vault.openMoment('now') : fs
    return { before: await open(before), after: await open(after) }
  }

  #listChanges(
    before: OpenTreeRef,
    after: OpenTreeRef,
    trees: TreePair,
    ctx: CallContext,
  ): AsyncIterable<PathChange> {
    const [one, other] = [before.linked, after.linked]
    if (one === undefined || other === undefined || one.link.path !== other.link.path)
      return diff(trees.before, trees.after, '/', ctx)
    return this.#diffTouched(before, after, trees, ctx)
  }

  /** Compares trees of one directory at the paths that their forks have touched. */
  async *#diffTouched(
    before: OpenTreeRef,
    after: OpenTreeRef,
    trees: TreePair,
    ctx: CallContext,
  ): AsyncGenerator<PathChange> {
    const paths = new Set<string>()
    for (const { linked } of [before, after])
      if (linked?.fork !== undefined)
        for (const vault of [linked.fork.name, linked.fork.mirror])
          for await (const { path } of (await this.#trees.home.vault(vault)).walk(
            '/',
            { includeDirs: true },
            ctx,
          ))
            paths.add(path)
    yield* diffCandidates(trees.before, trees.after, paths, ctx)
  }
}

/** Returns the fork if its changes are asked for: from its base to its current state. */
function findOwnFork(
  before: OpenTreeRef,
  after: OpenTreeRef,
): Required<NonNullable<OpenTreeRef['linked']>> | undefined {
  const [from, to] = [before.ref, after.ref]
  if (from.kind !== 'fork' || to.kind !== 'fork' || from.at !== 'base' || to.at !== undefined)
    return undefined
  const { linked } = after
  if (from.name !== to.name || linked?.fork === undefined) return undefined
  return { link: linked.link, fork: linked.fork }
}

/** Reports whether all that is compared is in vaults, at moments that never become others. A checkpoint can be replaced. */
function isStored(before: OpenTreeRef, after: OpenTreeRef): boolean {
  if (findOwnFork(before, after) !== undefined) return true
  return [before, after].every(
    ({ ref }) => ref.kind === 'vault' && !(typeof ref.at === 'object' && 'checkpoint' in ref.at),
  )
}

/**
 * Returns the begin and the last journal rows of the vaults of a tree: others are another state. A vault that was deleted
 * and created again may have as many rows.
 */
async function getPosition(
  { ref, vault, linked }: OpenTreeRef,
  home: Home,
): Promise<readonly (number | null)[]> {
  if (ref.kind === 'directory' || vault === undefined) return [null]
  const created = (await home.info(ref.name)).created.getTime()
  const own = ref.at === undefined ? await vault.getLastRow() : null
  const fork = linked?.fork
  return fork === undefined
    ? [created, own]
    : [created, own, await (await home.vault(fork.mirror)).getLastRow()]
}

/** Puts objects, logs and the like behind the files that a person looks at. */
function putGitLast(changes: readonly PathChange[]): readonly PathChange[] {
  const own = changes.filter(isChangeOfGit)
  return own.length === 0 ? changes : [...changes.filter((change) => !isChangeOfGit(change)), ...own]
}
