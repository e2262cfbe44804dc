import { VfsError } from '../../../vfs/index.ts'
import { type GitSurroundings, runGit } from './git-command.ts'
import type { MissingObjects } from './native-reader.ts'

export interface GitRemote {
  readonly url: string
  /** The deadline of each fetch. */
  readonly timeoutMs: number
}

/** A repository that has only what was asked for, and its remote. */
export class PartialClone implements MissingObjects {
  readonly #directory: string
  readonly #surroundings: GitSurroundings
  readonly #url: string
  readonly #timeoutMs: number
  readonly #waiting = new Set<string>()
  /** The fetch that will take what waits now. */
  #next: Promise<void> | undefined
  #running: Promise<void> = Promise.resolve()

  constructor(directory: string, surroundings: GitSurroundings, { url, timeoutMs }: GitRemote) {
    this.#directory = directory
    this.#surroundings = surroundings
    this.#url = url
    this.#timeoutMs = timeoutMs
  }

  /** Fetches a commit and its directories by a refspec. ENOENT, EUNAVAILABLE. */
  async fetchCommit(refspec: string, isWhole: boolean, signal?: AbortSignal): Promise<void> {
    const depth = isWhole ? [] : ['--depth=1']
    await this.#fetch([...depth, '--no-write-fetch-head'], `${refspec}\n`, signal)
  }

  /** Whatever is asked for while a fetch is under way comes together in the next one. */
  fetch(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.#waiting.add(id)
    this.#next ??= this.#running.then(() => {
      const wanted = [...this.#waiting]
      this.#waiting.clear()
      this.#next = undefined
      const fetched = this.#fetch(['--no-write-fetch-head'], wanted.map((id) => `${id}\n`).join(''))
      this.#running = fetched.catch(() => {})
      return fetched
    })
    return this.#next
  }

  async #fetch(options: readonly string[], input: string, signal?: AbortSignal): Promise<void> {
    const fixed = [
      'fetch',
      '--quiet',
      '--no-tags',
      '--recurse-submodules=no',
      '--filter=blob:none',
      '--stdin',
    ]
    const late = AbortSignal.timeout(this.#timeoutMs)
    const { code, complaint } = await runGit(['--git-dir', this.#directory, ...fixed, ...options, 'origin'], {
      ...this.#surroundings,
      input,
      signal: signal === undefined ? late : AbortSignal.any([signal, late]),
    }).catch((error: unknown) => {
      signal?.throwIfAborted()
      throw late.aborted ? this.#tooLate() : error
    })
    if (code === 0) return
    const isUnknown = /couldn't find remote ref|not our ref|invalid refspec/.test(complaint)
    const detail = `git could not fetch: ${complaint.replaceAll('\n', '; ')}`
    throw new VfsError(isUnknown ? 'ENOENT' : 'EUNAVAILABLE', this.#url, { op: 'fetch', detail })
  }

  #tooLate(): VfsError {
    const detail = `the fetch took longer than ${this.#timeoutMs} ms; try again, or raise timeoutMs`
    return new VfsError('ETIMEDOUT', this.#url, { op: 'fetch', detail })
  }
}
