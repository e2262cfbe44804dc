import type { Mutex } from '../../machine/index.ts'
import {
  compareTrees,
  createChangeWork,
  createNumberedForkName,
  type ForkPoint,
  isImported,
  type LinkedDirectory,
  type LinkedFork,
  performWork,
  TouchedPaths,
  type TreeFiles,
} from '../link/index.ts'
import type { SessionBase, SessionChange, StagedChange } from '../session/index.ts'
import {
  type Baseline,
  type CollectedChanges,
  type CommandChanges,
  type ExecutionWorkspace,
  type ForkStart,
  NO_CHANGES,
  type OverwrittenChanges,
} from './execution-workspace.ts'
import { listRivalChanges, mergeRivalChanges } from './rival-changes.ts'

/** The fork of a linked directory for a command: an existing one, or a new one if the command changes anything. */
export interface ForkChoice {
  readonly fork?: LinkedFork | undefined
  /** Name of a new fork; generated when absent. */
  readonly name?: string | undefined
  /** Creates a named fork even if the command changes nothing, because other files are kept for the fork. */
  readonly keepsEmpty?: boolean
  /** True if nobody chose the name. Such a fork is kept only if the command changes more than modification times. */
  readonly isGenerated?: boolean
  /** Serialises changes of the fork in this process, if not only commands change it. */
  readonly mutex?: Mutex | undefined
  /** Once it is aborted, changes are discarded. */
  readonly signal?: AbortSignal | undefined
}

/** A directory of this machine as a workspace. It stays unchanged; the changes of commands go into a fork. */
export class LinkedWorkspace implements ExecutionWorkspace {
  readonly directory: string
  readonly forkName: string | undefined
  readonly #link: LinkedDirectory
  readonly #keepsEmpty: boolean
  readonly #isGenerated: boolean
  readonly #mutex: Mutex | undefined
  readonly #signal: AbortSignal | undefined
  /** The files of the session when it began, or when its changes were collected last. */
  #start: ForkPoint | undefined
  #fork: LinkedFork | undefined
  /** Paths that the fork had changed when the session began. */
  #initialPaths: ReadonlySet<string> = new Set()
  /** Paths that the session had changed when its changes were last collected. */
  #lastTouched = new TouchedPaths([], [])
  /** True if another command created the fork while the session was open. The session began without its changes. */
  #isJoined = false

  constructor(
    link: LinkedDirectory,
    { fork, name, isGenerated = name === undefined, keepsEmpty = false, mutex, signal }: ForkChoice = {},
  ) {
    this.directory = link.path
    this.#link = link
    this.#fork = fork
    this.forkName = name
    this.#keepsEmpty = keepsEmpty
    this.#isGenerated = isGenerated
    this.#mutex = mutex
    this.#signal = signal
  }

  /** The fork with the changes; undefined until there is one. */
  get fork(): LinkedFork | undefined {
    return this.#fork
  }

  async baseline(): Promise<Baseline & { readonly session: SessionBase }> {
    if (this.#fork !== undefined) this.#start = await this.#link.snapshot(this.#fork)
    return this.#createBaseline()
  }

  /** As `baseline`, for a session of a killed process, whose changes are collected now. */
  async resume({
    point,
    paths,
  }: Pick<ForkStart, 'point' | 'paths'>): Promise<Baseline & { readonly session: SessionBase }> {
    const start = point === undefined ? undefined : await this.#link.findSnapshot(point)
    if (start === undefined && this.#fork !== undefined) {
      // Changes of others at the session's paths are not known, so it may replace them.
      await this.#saveCheckpoint(this.#fork)
      this.#start = await this.#link.snapshot(this.#fork)
    } else this.#start = start
    return this.#createBaseline(new Set(paths))
  }

  /** @param paths those that the fork had changed; all that differ from its base when absent. */
  async #createBaseline(paths?: ReadonlySet<string>): Promise<Baseline & { readonly session: SessionBase }> {
    const session = { lower: this.directory, staged: await this.#createStagedChanges(paths) }
    return { session, [Symbol.asyncDispose]: async () => this.#start?.[Symbol.asyncDispose]() }
  }

  /** Returns what the session had when it began, or when its changes were collected last. */
  describeStart(): ForkStart {
    const touched = [...this.#lastTouched.listPaths()].map(({ path }) => path)
    return {
      fork: this.forkName ?? this.#fork?.name ?? createNumberedForkName(this.directory, 1),
      directory: this.directory,
      point: this.#start?.vault,
      paths: [...this.#initialPaths, ...touched],
      keepsEmpty: this.#keepsEmpty,
      isGenerated: this.#isGenerated,
    }
  }

  keepStart(): void {
    this.#start = undefined
  }

  async checkpoint(): Promise<string | null> {
    return this.#fork === undefined ? null : this.#saveCheckpoint(this.#fork)
  }

  canKeep(change: SessionChange): boolean {
    return this.#link.canKeep(change)
  }

  async collect(collected: CollectedChanges): Promise<CommandChanges> {
    if (this.#signal?.aborted === true) return NO_CHANGES
    const collect = async () => {
      using _lock = await this.#link.lock()
      await this.#joinFork()
      return await this.#collect(collected)
    }
    return this.#mutex === undefined ? collect() : this.#mutex.run(collect)
  }

  /** Takes the fork that another command created under the name meanwhile: both keep their changes in it. */
  async #joinFork(): Promise<void> {
    if (this.#fork !== undefined || this.forkName === undefined) return
    this.#fork = await this.#link.findFork(this.forkName)
    this.#isJoined = this.#fork !== undefined
  }

  async #collect(collected: CollectedChanges): Promise<CommandChanges> {
    let point: ForkPoint | undefined
    let checkpoint: string | null = null
    let keepRivals: (() => Promise<OverwrittenChanges | undefined>) | undefined
    try {
      const { own, others } = await this.#splitChanges(collected.changes)
      const isOwn = (path: string) => this.#isKnown(path) && !others.includes(path)
      this.#fork = await this.#link.collect({
        ...collected,
        changes: own,
        isOwn,
        fork: this.#fork,
        name: this.forkName,
        keepsEmpty: this.#keepsEmpty,
        isGenerated: this.#isGenerated,
        beforeFirstImport: async (fork) => {
          if (collected.isCheckpointWanted) checkpoint = await this.#saveCheckpoint(fork)
        },
        // The import overwrites what others left; the difference is this command's work.
        beforeImport: async (fork) => {
          if (this.#isJoined && collected.isCheckpointWanted) checkpoint = await this.#saveCheckpoint(fork)
          point = await this.#link.snapshot(fork)
          const touched = new TouchedPaths(own, [])
          keepRivals = await this.#prepareMerge(fork, point, (path) => touched.includes(path) || isOwn(path))
        },
      })
      collected.onStored?.(this.#fork?.name)
      const earlier = this.#start
      if (collected.continues === true && this.#fork !== undefined)
        await this.#rememberSession(this.#fork, collected.changes, others)
      this.#isJoined = false
      const overwritten = await keepRivals?.()
      if (earlier !== this.#start) await earlier?.[Symbol.asyncDispose]()
      return this.#fork === undefined
        ? NO_CHANGES
        : { ...(await this.#diffSince(this.#fork, point)), checkpoint, overwritten }
    } catch (error) {
      await point?.[Symbol.asyncDispose]()
      throw error
    }
  }

  /**
   * Looks for paths that both the session and others have changed in the fork since the session's changes were last
   * collected. Returns the function that merges them after the import; undefined if there are none.
   */
  async #prepareMerge(
    fork: LinkedFork,
    point: ForkPoint,
    isTouched: (path: string) => boolean,
  ): Promise<(() => Promise<OverwrittenChanges | undefined>) | undefined> {
    if (!this.#isJoined && this.#start === undefined) return undefined
    const current = await this.#link.openTreeFiles({ ...fork, name: point.vault })
    const start = this.#isJoined ? current.before : await this.#openStart(fork)
    if (start === undefined) return undefined
    const rivals = listRivalChanges({
      start,
      current,
      isKnown: (path) => this.#isKnown(path),
      isOwn: isTouched,
    })
    if (rivals.length === 0) return undefined
    const checkpoint = await this.#saveCheckpoint(fork)
    return async () => {
      const { after } = await this.#link.openTreeFiles(fork)
      let paths: string[] = []
      after.batch(() => {
        paths = mergeRivalChanges(after, rivals)
      })
      if (paths.length > 0) return { paths, checkpoint }
      await this.#link.removeCheckpoint(fork, checkpoint)
      return undefined
    }
  }

  /** Opens the fork as it was when the session began; undefined if that is not known. */
  async #openStart(fork: LinkedFork): Promise<TreeFiles | undefined> {
    if (this.#start === undefined) return undefined
    return (await this.#link.openTreeFiles({ ...fork, name: this.#start.vault })).after
  }

  /**
   * Splits the changes of a session into those of its commands, and paths at which it still has what it began with.
   * Others may have changed these since.
   */
  async #splitChanges(
    changes: readonly SessionChange[],
  ): Promise<{ readonly own: SessionChange[]; readonly others: TouchedPaths }> {
    if (this.#start === undefined || this.#fork === undefined)
      return { own: [...changes], others: new TouchedPaths([], []) }
    const { after: start } = await this.#link.openTreeFiles({ ...this.#fork, name: this.#start.vault })
    const isOther = (change: SessionChange) => this.#isKnown(change.path) && isImported(start, change)
    const [own, others]: [SessionChange[], SessionChange[]] = [[], []]
    for (const change of changes) (isOther(change) ? others : own).push(change)
    return { own, others: new TouchedPaths(others, []) }
  }

  /** True if the session began with a change of the fork at a path, or made one that was collected. */
  #isKnown(path: string): boolean {
    return this.#initialPaths.has(path) || this.#lastTouched.includes(path)
  }

  /**
   * Keeps what the session has now, right after the import of its changes: its later changes, and those of others, are
   * the differences from that.
   */
  async #rememberSession(
    fork: LinkedFork,
    changes: readonly SessionChange[],
    others: TouchedPaths,
  ): Promise<void> {
    const [previous, current] = [this.#start, await this.#link.snapshot(fork)]
    this.#start = current
    this.#initialPaths = new Set()
    this.#lastTouched = new TouchedPaths(changes, [])
    if (previous === undefined) return
    const { after: then } = await this.#link.openTreeFiles({ ...fork, name: previous.vault })
    const { after: now } = await this.#link.openTreeFiles({ ...fork, name: current.vault })
    // What others changed is in the fork alone: the session still has what it had.
    const ahead = compareTrees(now, then).filter(({ path }) => others.includes(path))
    await performWork(now, ahead.map(createChangeWork))
  }

  async #saveCheckpoint(fork: LinkedFork): Promise<string> {
    return (await this.#link.checkpoint(fork)).name
  }

  /** Returns the fork's changes since a point; all of them without one. */
  async #diffSince(fork: LinkedFork, point: ForkPoint | undefined): Promise<CommandChanges> {
    return {
      ...NO_CHANGES,
      changes: await Array.fromAsync(this.#link.diff(fork, point?.vault)),
      trees: await this.#link.openTrees(fork, point?.vault),
      [Symbol.asyncDispose]: async () => point?.[Symbol.asyncDispose](),
    }
  }

  async #createStagedChanges(paths?: ReadonlySet<string>): Promise<StagedChange[]> {
    if (this.#fork === undefined || this.#start === undefined) return []
    const fork = { ...this.#fork, name: this.#start.vault }
    const found = await this.#link.listChanges(fork)
    const changes = paths === undefined ? found : found.filter(({ path }) => paths.has(path))
    this.#initialPaths = new Set(changes.map(({ path }) => path))
    return this.#link.createStagedChanges(fork, changes)
  }
}
