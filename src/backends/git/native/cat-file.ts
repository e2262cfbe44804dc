import { VfsError } from '../../../vfs/index.ts'
import type { AnyCatFileQuery } from './cat-file-queries.ts'
import { createNotInstalledError, type GitChild, type GitContext, startGit } from './git-command.ts'
import { type ResponseListener, ResponseParser } from './response-parser.ts'

const MAX_STDERR_BYTES = 4096

/**
 * A long-lived `git cat-file` process. Queries of one turn are sent together and answered in order.
 * If the process exits by itself, the query it was answering fails, and the others go to a new process.
 */
export class CatFile implements Disposable {
  readonly #directory: string
  readonly #context: GitContext
  #child: GitChild | undefined
  #pending: AnyCatFileQuery[] = []
  #unsent = ''
  #stderr = ''
  #isClosed = false

  /** @param directory path for `--git-dir`. */
  constructor(directory: string, context: GitContext) {
    this.#directory = directory
    this.#context = context
  }

  /** Sends a query with at least one name. */
  query(query: AnyCatFileQuery): void {
    if (this.#isClosed) {
      const detail = 'the repository was closed; open it again'
      query.fail(new VfsError('EBADF', '/', { op: 'read', detail }))
      return
    }
    this.#pending.push(query)
    // One write, and one flush command, for all queries of this turn.
    if (this.#unsent === '') queueMicrotask(() => this.#send())
    const command = query.wants === 'contents' ? 'contents' : 'info'
    this.#unsent += `${command} ${query.names.join(`\n${command} `)}\n`
  }

  [Symbol.dispose](): void {
    this.#isClosed = true
    this.#child?.kill()
  }

  #send(): void {
    if (this.#unsent === '' || this.#isClosed) return
    const child = this.#child ?? this.#start()
    setKeepsAlive(child, true)
    child.stdin.write(`${this.#unsent}flush\n`, 'latin1')
    this.#unsent = ''
  }

  #start(): GitChild {
    const args = ['--git-dir', this.#directory, 'cat-file', '--batch-command', '--buffer']
    const child = startGit(args, this.#context)
    const parser = new ResponseParser(() => this.#getListener())
    this.#child = child
    this.#stderr = ''
    child.stdout.on('data', (chunk: Buffer) => this.#receive(child, parser, chunk))
    child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-MAX_STDERR_BYTES)
    })
    child.stdin.on('error', () => {})
    child.once('error', (cause) => this.#handleExit(child, createNotInstalledError(cause), 'all'))
    child.once('close', () => this.#handleExit(child, this.#createExitError(), 'first'))
    return child
  }

  #receive(child: GitChild, parser: ResponseParser, chunk: Buffer): void {
    if (child !== this.#child) return
    try {
      parser.push(chunk)
    } catch (error) {
      child.kill()
      this.#handleExit(child, error, 'all')
      return
    }
    if (this.#findPending() === undefined) setKeepsAlive(child, false)
  }

  /** Returns the listener of the next response. */
  #getListener(): ResponseListener {
    const first = this.#findPending()
    if (first === undefined) throw new Error('git cat-file sent a response without a query')
    return first
  }

  #findPending(): AnyCatFileQuery | undefined {
    while (this.#pending[0]?.isComplete) this.#pending.shift()
    return this.#pending[0]
  }

  /** Fails the queries that the exited process was answering, and restarts for the others. */
  #handleExit(child: GitChild, error: unknown, affected: 'first' | 'all'): void {
    if (this.#child !== child) return
    this.#child = undefined
    const first = this.#findPending()
    const waiting = this.#pending
    this.#pending = []
    this.#unsent = ''
    for (const query of waiting) {
      if (affected === 'all' || this.#isClosed || query === first) query.fail(error)
      else this.query(query)
    }
  }

  #createExitError(): VfsError {
    const reason = this.#stderr.trim() || 'it exited without a message'
    return new VfsError('EIO', '/', { op: 'read', detail: `git could not read the repository: ${reason}` })
  }
}

/** Keeps the program running while a query is pending. An idle Git does not. */
function setKeepsAlive(child: GitChild, isNeeded: boolean): void {
  const change = isNeeded ? 'ref' : 'unref'
  child[change]()
  for (const stream of [child.stdin, child.stdout, child.stderr]) {
    if ('ref' in stream && 'unref' in stream && typeof stream[change] === 'function') stream[change]()
  }
}
