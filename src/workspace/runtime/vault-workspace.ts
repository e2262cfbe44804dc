import { join } from 'node:path'
import { importSession, type LinkHome } from '../link/index.ts'
import type { ChangedFiles } from '../policy/index.ts'
import { makeSessionDirectory, removeTree } from '../session/index.ts'
import { changedFiles } from './changed-files.ts'
import type { Baseline, Collected, ExecutionWorkspace } from './workspace.ts'

/** What a vault as a workspace needs of a home, beside what a linked directory needs. */
export interface WorkspaceHome extends LinkHome {
  export(vault: string, directory: string): Promise<unknown>
}

export interface VaultChoice {
  /** The vault, or the fork of one, that the command sees. */
  readonly vault: string
  /** Where its changes go: a fork by this name is made of the vault. They go into the vault itself when absent. */
  readonly newFork?: string | undefined
  /** Where the vault is checked out while the command runs. */
  readonly sessions: string
}

/** A vault as a workspace: checked out for the command, with what that changes brought into a fork. */
export class VaultWorkspace implements ExecutionWorkspace {
  readonly #home: WorkspaceHome
  readonly #choice: VaultChoice

  constructor(home: WorkspaceHome, choice: VaultChoice) {
    this.#home = home
    this.#choice = choice
  }

  async baseline(): Promise<Baseline> {
    const directory = await makeSessionDirectory(this.#choice.sessions)
    const dispose = () => removeTree(directory)
    try {
      const lower = join(directory, this.#choice.vault)
      await this.#home.export(this.#choice.vault, lower)
      return { session: { lower, staged: [] }, [Symbol.asyncDispose]: dispose }
    } catch (error) {
      await dispose()
      throw error
    }
  }

  async checkpoint(): Promise<string | null> {
    const { vault, newFork } = this.#choice
    // A vault that stays as it is needs nothing to go back to.
    return newFork === undefined ? (await (await this.#home.vault(vault)).checkpoint()).name : null
  }

  /** What the fork changes in the vault it grew from, by this command or an earlier one. */
  async collect({ changes, by }: Collected): Promise<ChangedFiles> {
    const { vault, newFork } = this.#choice
    if (newFork !== undefined && changes.length === 0) return changedFiles([])
    const fork = newFork === undefined ? await this.#home.vault(vault) : await this.#home.fork(vault, newFork)
    await importSession(await this.#home.posix(fork.name, { by }), changes)
    return changedFiles(fork.diff())
  }
}
