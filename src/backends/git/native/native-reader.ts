import { VfsError } from '../../../vfs/index.ts'
import type { GitObject, ObjectReader, ObjectType } from '../object-reader.ts'
import { CatFile } from './cat-file.ts'
import { ended, type GitChild, type GitSurroundings, startGit } from './git-command.ts'
import { type AnyQuestions, ObjectQuestions, SizeQuestions } from './questions.ts'

/** Where to get objects that a partial clone lacks. */
export interface MissingObjects {
  /** Brings them, all in one go. EUNAVAILABLE. */
  fetch(ids: readonly string[]): Promise<void>
}

/** Which repository, and how it is read. */
export interface NativeRepository {
  /** As `--git-dir` takes it. */
  readonly directory: string
  readonly surroundings: GitSurroundings
  /** Absent where everything must be there. */
  readonly missing?: MissingObjects
}

/** What cannot be a name of a commit, or would be several lines to Git. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const NO_NAME = /^$|^-|[\u0000-\u0020\u007f]/

/** A repository read by the Git of this machine: any format, packs, alternates and worktrees that it knows. */
export class NativeReader implements ObjectReader {
  readonly #repository: NativeRepository
  readonly #catFile: CatFile
  readonly #streams = new Set<GitChild>()

  constructor(repository: NativeRepository) {
    this.#repository = repository
    this.#catFile = new CatFile(repository.directory, repository.surroundings)
  }

  async resolve(name: string): Promise<string> {
    if (NO_NAME.test(name))
      throw new VfsError('EINVAL', '/', { op: 'open', detail: `'${name}' names no commit` })
    const [commit] = await this.#ask(
      new ObjectQuestions('info', [Buffer.from(`${name}^{commit}`).toString('latin1')]),
    )
    if (commit !== undefined) return commit.id
    const detail = `the repository has no commit '${name}'; a short id may need more digits`
    throw new VfsError('ENOENT', '/', { op: 'open', detail })
  }

  async objects(ids: readonly string[]): Promise<GitObject[]> {
    const found = await this.#whole(ids, (names) => new ObjectQuestions('contents', names))
    return found.map(({ type, bytes }) => ({ type: typeOf(type), bytes }))
  }

  sizes(ids: readonly string[]): Promise<number[]> {
    return this.#whole(ids, (names) => new SizeQuestions(names))
  }

  async *stream(id: string): AsyncGenerator<Uint8Array> {
    const { directory, surroundings } = this.#repository
    // A process of its own: whoever reads a large file slowly holds up nobody else.
    const child = startGit(['--git-dir', directory, 'cat-file', 'blob', id], surroundings)
    this.#streams.add(child)
    child.stdin.end()
    child.stderr.resume()
    const end = ended(child)
    try {
      for await (const chunk of child.stdout) yield chunk
      if ((await end) !== 0) throw unreadable(id)
    } finally {
      end.catch(() => {})
      child.kill()
      this.#streams.delete(child)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#catFile[Symbol.dispose]()
    for (const child of this.#streams) child.kill()
  }

  /** Answers about objects that are there, once what was missing is fetched. */
  async #whole<Answer>(
    ids: readonly string[],
    question: (
      ids: readonly string[],
    ) => AnyQuestions & { readonly answers: Promise<(Answer | undefined)[]> },
  ): Promise<Answer[]> {
    if (ids.length === 0) return []
    const answers = await this.#ask(question(ids))
    if (isWhole(answers)) return answers
    const lacking = ids.filter((_, at) => answers[at] === undefined)
    const { missing } = this.#repository
    if (lacking.length > 0 && missing !== undefined) {
      await missing.fetch([...new Set(lacking)])
      const found = (await this.#ask(question(lacking))).values()
      for (const [at, answer] of answers.entries()) if (answer === undefined) answers[at] = found.next().value
    }
    return answers.map((answer, at) => answer ?? refuse(ids[at] ?? ''))
  }

  #ask<Answer>(
    questions: AnyQuestions & { readonly answers: Promise<(Answer | undefined)[]> },
  ): Promise<(Answer | undefined)[]> {
    this.#catFile.ask(questions)
    return questions.answers
  }
}

function typeOf(type: string): ObjectType {
  if (type === 'blob' || type === 'tree' || type === 'commit' || type === 'tag') return type
  throw new VfsError('EIO', '/', { op: 'read', detail: `git knows a kind of object that we do not: ${type}` })
}

function isWhole<Answer>(answers: (Answer | undefined)[]): answers is Answer[] {
  return !answers.includes(undefined)
}

function refuse(id: string): never {
  throw unreadable(id)
}

function unreadable(id: string): VfsError {
  const detail = `the repository has no object ${id}; fetch all of it (git fetch --unshallow, or a clone without --depth and --filter), or look for damage with git fsck`
  return new VfsError('EUNAVAILABLE', '/', { op: 'read', detail })
}
