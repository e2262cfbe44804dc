import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Home } from '../backends/vault/index.ts'
import type { WorkspaceCheckout } from '../devices/lsp/index.ts'
import { makePrivateDirectory } from '../machine/index.ts'
import { type CommandSettings, findForkDirectory, viewFork } from '../namespace/index.ts'
import { VfsError } from '../vfs/index.ts'
import { CodeCheckout } from './code-checkout.ts'
import { ForkCheckout, type OpenedView } from './fork-checkout.ts'
import { createServerLaunch } from './server-launch.ts'
import { readLastToken } from './vault-feed.ts'

/** Files of one fork. */
interface OpenedCode extends AsyncDisposable {
  /** Returns the checkout with all changes so far. */
  refresh(): Promise<WorkspaceCheckout>
}

/** Ends the language servers of a checkout. */
type ReleaseServers = (id: string) => Promise<void>

/**
 * Files of processes for language servers, current at each query, including changes of others. The files of a vault are
 * written to a directory; those of a fork of a directory are an overlay over it.
 */
export class CodeCheckouts {
  readonly #home: Home
  readonly #directory: string
  readonly #commands: CommandSettings
  readonly #release: ReleaseServers
  readonly #opened = new Map<string, Promise<OpenedCode>>()

  constructor(home: Home, directory: string, commands: CommandSettings, release: ReleaseServers) {
    this.#home = home
    this.#directory = directory
    this.#commands = commands
    this.#release = release
  }

  /** Opens a checkout. Throws ENOTSUP for a process without a workspace, and if `strict` isolation is not available. */
  async open(fork: string | null | undefined): Promise<WorkspaceCheckout> {
    if (fork === null || fork === undefined) {
      const detail = 'the process has no workspace with code'
      throw new VfsError('ENOTSUP', '/dev/lsp', { op: 'lsp', detail })
    }
    const opened = this.#opened.get(fork) ?? this.#open(fork)
    this.#opened.set(fork, opened)
    opened.catch(() => this.#opened.delete(fork))
    return (await opened).refresh()
  }

  /** Removes leftovers of a killed program. Call once at start, before any process. */
  async sweep(): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true })
  }

  /** Ends the servers of a fork and removes its files. */
  async drop(fork: string): Promise<void> {
    const opened = this.#opened.get(fork)
    if (opened === undefined) return
    this.#opened.delete(fork)
    await (await opened.catch(() => undefined))?.[Symbol.asyncDispose]()
    await rm(join(this.#directory, fork), { recursive: true, force: true })
  }

  async #open(fork: string): Promise<OpenedCode> {
    return (await findForkDirectory(this.#home, fork)) === undefined
      ? this.#createCheckout(fork)
      : new ForkCheckout({
          vault: await this.#home.vault(fork),
          openView: () => this.#openView(fork),
          release: this.#release,
        })
  }

  async #openView(fork: string): Promise<OpenedView> {
    const { files, hiddenOutside } = await viewFork(this.#home, fork, this.#commands.mask)
    const { directory, path: workspace, mountLines, placingLines } = files
    const place = { home: this.#home.path, directory, workspace, mountLines, placingLines, hiddenOutside }
    try {
      return {
        id: directory,
        directory: workspace,
        wrapCommand: await createServerLaunch(place, this.#commands),
        findType: (path) => files.findType(path),
        [Symbol.asyncDispose]: () => files[Symbol.asyncDispose](),
      }
    } catch (error) {
      await files[Symbol.asyncDispose]()
      throw error
    }
  }

  async #createCheckout(fork: string): Promise<OpenedCode> {
    const directory = join(this.#directory, fork)
    const tree = join(directory, 'tree')
    await rm(directory, { recursive: true, force: true })
    makePrivateDirectory(tree)
    const vault = await this.#home.vault(fork)
    // Before the files, so that a concurrent change is applied twice rather than never.
    const token = await readLastToken(vault)
    await this.#home.export(fork, tree)
    const place = { home: this.#home.path, directory, workspace: tree }
    const wrapCommand = await createServerLaunch(place, this.#commands)
    const checkout = new CodeCheckout({ vault, token, directory: tree, wrapCommand })
    return {
      refresh: async () => {
        await checkout.refresh()
        return checkout
      },
      [Symbol.asyncDispose]: async () => {
        await this.#release(tree)
        await checkout[Symbol.asyncDispose]()
      },
    }
  }
}
