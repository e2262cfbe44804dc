import { VfsError } from '../../../vfs/index.ts'
import type { GitContext } from './git-command.ts'
import type { ObjectFetcher } from './native-reader.ts'
import { runGitBesideOthers } from './run-beside-others.ts'

export interface GitRemote {
  readonly url: string
  /** Time limit of each fetch. */
  readonly timeoutMs: number
}

/** A repository with only the fetched objects, and its remote. */
export class PartialClone implements ObjectFetcher {
  readonly #directory: string
  readonly #context: GitContext
  readonly #url: string
  readonly #timeoutMs: number
  readonly #pending = new Set<string>()
  /** The next fetch, which takes the pending ids. */
  #nextFetch: Promise<void> | undefined
  #lastFetch: Promise<void> = Promise.resolve()

  constructor(directory: string, context: GitContext, { url, timeoutMs }: GitRemote) {
    this.#directory = directory
    this.#context = context
    this.#url = url
    this.#timeoutMs = timeoutMs
  }

  /** Fetches a commit and its directories by a refspec; with `isWhole` its history, too. ENOENT, EUNAVAILABLE, ETIMEDOUT. */
  async fetchCommit(refspec: string, isWhole: boolean, signal?: AbortSignal): Promise<void> {
    const depth = isWhole ? [] : ['--depth=1']
    await this.#fetch([...depth, '--no-write-fetch-head'], `${refspec}\n`, signal)
  }

  /** Fetches objects. Requests during a fetch share the next one. */
  fetch(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.#pending.add(id)
    this.#nextFetch ??= this.#lastFetch.then(() => {
      const wanted = [...this.#pending]
      this.#pending.clear()
      this.#nextFetch = undefined
      const fetched = this.#fetch(['--no-write-fetch-head'], wanted.map((id) => `${id}\n`).join(''))
      this.#lastFetch = fetched.catch(() => {})
      return fetched
    })
    return this.#nextFetch
  }

  async #fetch(options: readonly string[], input: string, signal?: AbortSignal): Promise<void> {
    const command = [
      'fetch',
      '--quiet',
      '--no-tags',
      '--recurse-submodules=no',
      '--filter=blob:none',
      '--stdin',
    ]
    const timeout = AbortSignal.timeout(this.#timeoutMs)
    const { code, stderr } = await runGitBesideOthers(
      ['--git-dir', this.#directory, ...command, ...options, 'origin'],
      {
        ...this.#context,
        input,
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      },
    ).catch((error: unknown) => {
      signal?.throwIfAborted()
      throw timeout.aborted ? this.#createTimeoutError() : error
    })
    if (code === 0) return
    const isUnknown = /couldn't find remote ref|not our ref|invalid refspec/.test(stderr)
    const detail = `git could not fetch: ${stderr.replaceAll('\n', '; ')}`
    throw new VfsError(isUnknown ? 'ENOENT' : 'EUNAVAILABLE', this.#url, { op: 'fetch', detail })
  }

  #createTimeoutError(): VfsError {
    const detail = `the fetch took longer than ${this.#timeoutMs} ms; try again, or raise timeoutMs`
    return new VfsError('ETIMEDOUT', this.#url, { op: 'fetch', detail })
  }
}
