import { type ForkPoint, type LinkedDirectory, type LinkedFork, TouchedPaths } from '../link/index.ts'
import type { SessionBase, SessionChange, StagedChange } from '../session/index.ts'
import {
  type Baseline,
  type CollectedChanges,
  type CommandChanges,
  type ExecutionWorkspace,
  NO_CHANGES,
} from './execution-workspace.ts'

/** The fork of a linked directory for a command: an existing one, or a new one if the command changes anything. */
export interface ForkChoice {
  readonly fork?: LinkedFork | undefined
  /** Name of a new fork; generated when absent. */
  readonly name?: string | undefined
  /** Creates a named fork also for a command without changes: it keeps other files of the command. */
  readonly keepsEmpty?: boolean
  /** True if nobody chose the name. Such a fork is kept only if the command changes more than times. */
  readonly isGenerated?: boolean
}

/** A directory of this machine as a workspace. It stays unchanged; the changes of commands go into a fork. */
export class LinkedWorkspace implements ExecutionWorkspace {
  readonly directory: string
  readonly forkName: string | undefined
  readonly #link: LinkedDirectory
  readonly #keepsEmpty: boolean
  readonly #isGenerated: boolean
  #fork: LinkedFork | undefined
  /** Paths that the fork had changed when the session began, and the last changes of the session. */
  #initialPaths: ReadonlySet<string> = new Set()
  #lastTouched = new TouchedPaths([], [])

  constructor(
    link: LinkedDirectory,
    { fork, name, isGenerated = name === undefined, keepsEmpty = false }: ForkChoice = {},
  ) {
    this.directory = link.path
    this.#link = link
    this.#fork = fork
    this.forkName = name
    this.#keepsEmpty = keepsEmpty
    this.#isGenerated = isGenerated
  }

  /** Fork with the changes; undefined if there are none. */
  get fork(): LinkedFork | undefined {
    return this.#fork
  }

  async baseline(): Promise<Baseline & { readonly session: SessionBase }> {
    // The directory exists anyway: nothing is created, so nothing is removed.
    return {
      session: { lower: this.directory, staged: await this.#createStagedChanges() },
      [Symbol.asyncDispose]: async () => {},
    }
  }

  async checkpoint(): Promise<string | null> {
    return this.#fork === undefined ? null : this.#saveCheckpoint(this.#fork)
  }

  canKeep(change: SessionChange): boolean {
    return this.#link.canKeep(change)
  }

  async collect(collected: CollectedChanges): Promise<CommandChanges> {
    let point: ForkPoint | undefined
    let checkpoint: string | null = null
    try {
      this.#fork = await this.#link.collect({
        ...collected,
        isOwn: (path) => this.#initialPaths.has(path) || this.#lastTouched.includes(path),
        fork: this.#fork,
        name: this.forkName,
        keepsEmpty: this.#keepsEmpty,
        isGenerated: this.#isGenerated,
        beforeFirstImport: async (fork) => {
          if (collected.isCheckpointWanted) checkpoint = await this.#saveCheckpoint(fork)
        },
        // The import overwrites what earlier commands left; the difference is this command's work.
        beforeImport: async (fork) => {
          point = await this.#link.snapshot(fork)
        },
      })
      this.#lastTouched = new TouchedPaths(collected.changes, [])
      return this.#fork === undefined
        ? NO_CHANGES
        : { ...(await this.#diffSince(this.#fork, point)), checkpoint }
    } catch (error) {
      await point?.[Symbol.asyncDispose]()
      throw error
    }
  }

  async #saveCheckpoint(fork: LinkedFork): Promise<string> {
    const { after } = await this.#link.openTrees(fork)
    return (await after.checkpoint()).name
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

  async #createStagedChanges(): Promise<StagedChange[]> {
    if (this.#fork === undefined) return []
    const changes = await this.#link.listChanges(this.#fork)
    this.#initialPaths = new Set(changes.map(({ path }) => path))
    return this.#link.createStagedChanges(this.#fork, changes)
  }
}
