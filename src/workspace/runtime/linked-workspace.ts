import { type LinkedDirectory, type LinkedFork, Touched } from '../link/index.ts'
import type { ChangedFiles } from '../policy/index.ts'
import type { SessionChange, StagedChange } from '../session/index.ts'
import { changedFiles } from './changed-files.ts'
import type { Baseline, Collected, ExecutionWorkspace } from './workspace.ts'

/** Which fork of a linked directory a command runs in: one that is there, or a new one if it changes anything. */
export interface ForkChoice {
  readonly fork?: LinkedFork | undefined
  /** The name of a new fork; one is found when absent. */
  readonly name?: string | undefined
}

/** A directory of this machine as a workspace: it stays as it is, and what a command changes is kept in a fork. */
export class LinkedWorkspace implements ExecutionWorkspace {
  readonly directory: string
  readonly #link: LinkedDirectory
  readonly #name: string | undefined
  #fork: LinkedFork | undefined
  /** What the fork had changed when the session began, and what the session told last. */
  #found: ReadonlySet<string> = new Set()
  #told = new Touched([], [])

  constructor(link: LinkedDirectory, { fork, name }: ForkChoice = {}) {
    this.directory = link.path
    this.#link = link
    this.#fork = fork
    this.#name = name
  }

  /** Where the changes are; undefined if there are none. */
  get fork(): LinkedFork | undefined {
    return this.#fork
  }

  async baseline(): Promise<Baseline> {
    // The directory is there anyway: nothing is made, so nothing has to go.
    return {
      session: { lower: this.directory, staged: await this.#staged() },
      [Symbol.asyncDispose]: async () => {},
    }
  }

  async checkpoint(): Promise<string | null> {
    if (this.#fork === undefined) return null
    const { after } = await this.#link.trees(this.#fork)
    return (await after.checkpoint()).name
  }

  canKeep(change: SessionChange): boolean {
    return this.#link.canKeep(change)
  }

  /** What the fork changes in the directory, by this command or an earlier one. */
  async collect(collected: Collected): Promise<ChangedFiles> {
    const isOwn = (path: string) => this.#found.has(path) || this.#told.mentions(path)
    this.#fork = await this.#link.collect({ ...collected, isOwn, fork: this.#fork, name: this.#name })
    this.#told = new Touched(collected.changes, [])
    return changedFiles(this.#fork === undefined ? [] : this.#link.diff(this.#fork))
  }

  async #staged(): Promise<StagedChange[]> {
    if (this.#fork === undefined) return []
    const changes = await this.#link.changes(this.#fork)
    this.#found = new Set(changes.map(({ path }) => path))
    return this.#link.staged(this.#fork, changes)
  }
}
