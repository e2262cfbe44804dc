import { VfsError } from '../../../vfs/index.ts'
import { AnswerParser, type Listener } from './answer-parser.ts'
import { type GitChild, type GitSurroundings, notInstalled, startGit } from './git-command.ts'
import type { AnyQuestions } from './questions.ts'

const COMPLAINT_BYTES = 4096

/**
 * One `git cat-file` that lives as long as it is needed. Questions of one turn are sent together and answered in
 * order. Should it end by itself, those it was answering fail, and the others are asked again of a new one.
 */
export class CatFile implements Disposable {
  readonly #directory: string
  readonly #surroundings: GitSurroundings
  #child: GitChild | undefined
  #waiting: AnyQuestions[] = []
  #unsent = ''
  #complaint = ''
  #isClosed = false

  /** @param directory the directory of the repository, as `--git-dir` takes it. */
  constructor(directory: string, surroundings: GitSurroundings) {
    this.#directory = directory
    this.#surroundings = surroundings
  }

  /** Asks at least one question. */
  ask(questions: AnyQuestions): void {
    if (this.#isClosed) {
      const detail = 'the repository was closed; open it again'
      questions.fail(new VfsError('EBADF', '/', { op: 'read', detail }))
      return
    }
    this.#waiting.push(questions)
    // Everything of this turn in one write, and one word to Git to begin.
    if (this.#unsent === '') queueMicrotask(() => this.#send())
    const command = questions.wants === 'contents' ? 'contents' : 'info'
    this.#unsent += `${command} ${questions.names.join(`\n${command} `)}\n`
  }

  [Symbol.dispose](): void {
    this.#isClosed = true
    this.#child?.kill()
  }

  #send(): void {
    if (this.#unsent === '' || this.#isClosed) return
    const child = this.#child ?? this.#start()
    hold(child, true)
    child.stdin.write(`${this.#unsent}flush\n`, 'latin1')
    this.#unsent = ''
  }

  #start(): GitChild {
    const args = ['--git-dir', this.#directory, 'cat-file', '--batch-command', '--buffer']
    const child = startGit(args, this.#surroundings)
    const parser = new AnswerParser(() => this.#next())
    this.#child = child
    this.#complaint = ''
    child.stdout.on('data', (chunk: Buffer) => this.#take(child, parser, chunk))
    child.stderr.on('data', (chunk: Buffer) => {
      this.#complaint = (this.#complaint + chunk.toString()).slice(-COMPLAINT_BYTES)
    })
    child.stdin.on('error', () => {})
    child.once('error', (cause) => this.#lost(child, notInstalled(cause), 'all'))
    child.once('close', () => this.#lost(child, this.#ending(), 'first'))
    return child
  }

  #take(child: GitChild, parser: AnswerParser, chunk: Buffer): void {
    if (child !== this.#child) return
    try {
      parser.take(chunk)
    } catch (error) {
      child.kill()
      this.#lost(child, error, 'all')
      return
    }
    if (this.#first() === undefined) hold(child, false)
  }

  /** Whose answer comes next. */
  #next(): Listener {
    const first = this.#first()
    if (first === undefined) throw new Error('git cat-file answers what nobody asked')
    return first
  }

  #first(): AnyQuestions | undefined {
    while (this.#waiting[0]?.isAnswered) this.#waiting.shift()
    return this.#waiting[0]
  }

  /** The process is gone: whoever it was answering is told, the others get a new one. */
  #lost(child: GitChild, error: unknown, whom: 'first' | 'all'): void {
    if (this.#child !== child) return
    this.#child = undefined
    const first = this.#first()
    const waiting = this.#waiting
    this.#waiting = []
    this.#unsent = ''
    for (const questions of waiting) {
      if (whom === 'all' || this.#isClosed || questions === first) questions.fail(error)
      else this.ask(questions)
    }
  }

  #ending(): VfsError {
    const said = this.#complaint.trim() || 'it ended without a word'
    return new VfsError('EIO', '/', { op: 'read', detail: `git could not read the repository: ${said}` })
  }
}

/** Whether an unanswered question keeps the program running. An idle Git does not. */
function hold(child: GitChild, isNeeded: boolean): void {
  const change = isNeeded ? 'ref' : 'unref'
  child[change]()
  for (const stream of [child.stdin, child.stdout, child.stderr]) {
    if ('ref' in stream && 'unref' in stream && typeof stream[change] === 'function') stream[change]()
  }
}
