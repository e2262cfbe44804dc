import type { Vault } from '../backends/vault/index.ts'
import type { ChangedFile, WorkspaceCheckout } from '../devices/lsp/index.ts'
import { Mutex } from '../machine/index.ts'
import { listTouchedPaths, readLastToken, statIfPresent } from './vault-feed.ts'

/** Limit of changed files whose texts servers receive with each query. Beyond it, a new view has them. */
const MAX_CHANGED_FILES = 20

/** A view of a fork of a directory, in which servers can start. */
export interface OpenedView extends AsyncDisposable {
  /** Directory of its own files, which identifies it. */
  readonly id: string
  /** The forked directory, at whose path servers see the view. */
  readonly directory: string
  readonly wrapCommand: WorkspaceCheckout['wrapCommand']
  /** Returns the type of an entry as servers see it; undefined if they see none. */
  findType(path: string): string | undefined
}

export interface ForkCheckoutOptions {
  /** Vault of the fork. */
  readonly vault: Vault
  /** Opens a view of the fork as it is now. */
  openView(): Promise<OpenedView>
  /** Ends the servers of a view. */
  release(id: string): Promise<void>
}

/**
 * The files of a fork of a directory for language servers. Servers read a view of one moment. They receive the texts of
 * files that changed since; if files appeared or vanished, new servers start in a new view.
 */
export class ForkCheckout implements AsyncDisposable {
  readonly #options: ForkCheckoutOptions
  readonly #mutex = new Mutex()
  /** Files that differ from the view. */
  readonly #changed = new Map<string, ChangedFile>()
  #view: OpenedView | undefined
  #token: string | undefined

  constructor(options: ForkCheckoutOptions) {
    this.#options = options
  }

  /** Returns the checkout with all changes so far. */
  refresh(): Promise<WorkspaceCheckout> {
    return this.#mutex.run(async () => {
      const view = this.#view
      const isCurrent = view !== undefined && (await this.#followChanges(view))
      return this.#createCheckout(isCurrent ? view : await this.#reopen())
    })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#mutex.run(() => this.#close())
  }

  /** Records changes since the last call; false if the view lacks a file, or has one too many. */
  async #followChanges(view: OpenedView): Promise<boolean> {
    const touched = new Set<string>()
    for await (const item of this.#options.vault.changes(this.#since)) {
      for (const [path] of listTouchedPaths(item)) touched.add(path)
      this.#token = item.token
    }
    for (const path of touched) {
      if (path === '/') return false
      const stat = await statIfPresent(this.#options.vault, path)
      if (stat?.type !== view.findType(path) || stat?.type === 'symlink') return false
      if (stat?.type === 'file') this.#changed.set(path, { path, kind: 'changed' })
    }
    return this.#changed.size <= MAX_CHANGED_FILES
  }

  async #reopen(): Promise<OpenedView> {
    await this.#close()
    // Before the view, so that a concurrent change is applied twice rather than never.
    this.#token = await readLastToken(this.#options.vault, this.#since)
    this.#view = await this.#options.openView()
    return this.#view
  }

  async #close(): Promise<void> {
    const view = this.#view
    this.#view = undefined
    this.#changed.clear()
    if (view === undefined) return
    await this.#options.release(view.id)
    await view[Symbol.asyncDispose]()
  }

  #createCheckout({ id, directory, wrapCommand }: OpenedView): WorkspaceCheckout {
    const files = [...this.#changed.values()]
    // All of them each time: a server that closed a document reads the file of the view.
    return { id, directory, wrapCommand, changes: { version: 0, since: () => files } }
  }

  get #since(): { readonly since?: string } {
    return this.#token === undefined ? {} : { since: this.#token }
  }
}
