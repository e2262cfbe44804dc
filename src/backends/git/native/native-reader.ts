import { VfsError } from '../../../vfs/index.ts'
import type { GitObject, ObjectReader, ObjectType } from '../object-reader.ts'
import { CatFile } from './cat-file.ts'
import { type AnyCatFileQuery, ObjectQuery, SizeQuery } from './cat-file-queries.ts'
import { type GitChild, type GitContext, startGit, waitForExit } from './git-command.ts'

/** Source of objects that a partial clone lacks. */
export interface ObjectFetcher {
  /** Fetches objects in one batch. EUNAVAILABLE. */
  fetch(ids: readonly string[]): Promise<void>
}

/** A repository, and how to read it. */
export interface NativeRepository {
  /** Path for `--git-dir`. */
  readonly directory: string
  readonly context: GitContext
  /** Fetches missing objects. Absent if the repository must be complete. */
  readonly fetcher?: ObjectFetcher
}

/** Text that names no commit, or that Git would read as several lines. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const INVALID_NAME = /^$|^-|[\u0000-\u0020\u007f]/

/** Reads a repository with the Git of this machine: any format, packs, alternates and worktrees it supports. */
export class NativeReader implements ObjectReader {
  readonly #repository: NativeRepository
  readonly #catFile: CatFile
  readonly #streams = new Set<GitChild>()

  constructor(repository: NativeRepository) {
    this.#repository = repository
    this.#catFile = new CatFile(repository.directory, repository.context)
  }

  async resolve(name: string): Promise<string> {
    if (INVALID_NAME.test(name))
      throw new VfsError('EINVAL', '/', { op: 'open', detail: `'${name}' is not a valid commit name` })
    const [commit] = await this.#query(
      new ObjectQuery('info', [Buffer.from(`${name}^{commit}`).toString('latin1')]),
    )
    if (commit !== undefined) return commit.id
    const detail = `the repository has no commit '${name}'; a short id may need more digits`
    throw new VfsError('ENOENT', '/', { op: 'open', detail })
  }

  async objects(ids: readonly string[]): Promise<GitObject[]> {
    const found = await this.#queryAll(ids, (names) => new ObjectQuery('contents', names))
    return found.map(({ type, bytes }) => ({ type: parseType(type), bytes }))
  }

  sizes(ids: readonly string[]): Promise<number[]> {
    return this.#queryAll(ids, (names) => new SizeQuery(names))
  }

  async *stream(id: string): AsyncGenerator<Uint8Array> {
    const { directory, context } = this.#repository
    // A separate process: a slow reader of a large file blocks no other read.
    const child = startGit(['--git-dir', directory, 'cat-file', 'blob', id], context)
    this.#streams.add(child)
    child.stdin.end()
    child.stderr.resume()
    const end = waitForExit(child)
    try {
      for await (const chunk of child.stdout) yield chunk
      if ((await end) !== 0) throw createUnreadableError(id)
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

  /** Queries objects, and fetches those that are missing. EUNAVAILABLE for any that still is. */
  async #queryAll<Answer>(
    ids: readonly string[],
    createQuery: (
      ids: readonly string[],
    ) => AnyCatFileQuery & { readonly answers: Promise<(Answer | undefined)[]> },
  ): Promise<Answer[]> {
    if (ids.length === 0) return []
    const answers = await this.#query(createQuery(ids))
    if (isComplete(answers)) return answers
    const missing = ids.filter((_, index) => answers[index] === undefined)
    const { fetcher } = this.#repository
    if (missing.length > 0 && fetcher !== undefined) {
      await fetcher.fetch([...new Set(missing)])
      const found = (await this.#query(createQuery(missing))).values()
      for (const [index, answer] of answers.entries())
        if (answer === undefined) answers[index] = found.next().value
    }
    return answers.map((answer, index) => answer ?? throwMissing(ids[index] ?? ''))
  }

  #query<Answer>(
    query: AnyCatFileQuery & { readonly answers: Promise<(Answer | undefined)[]> },
  ): Promise<(Answer | undefined)[]> {
    this.#catFile.query(query)
    return query.answers
  }
}

function parseType(type: string): ObjectType {
  if (type === 'blob' || type === 'tree' || type === 'commit' || type === 'tag') return type
  throw new VfsError('EIO', '/', { op: 'read', detail: `git returned an object of an unknown type: ${type}` })
}

function isComplete<Answer>(answers: (Answer | undefined)[]): answers is Answer[] {
  return !answers.includes(undefined)
}

function throwMissing(id: string): never {
  throw createUnreadableError(id)
}

function createUnreadableError(id: string): VfsError {
  const detail = `the repository has no object ${id}; fetch all of it (git fetch --unshallow, or a clone without --depth and --filter), or look for damage with git fsck`
  return new VfsError('EUNAVAILABLE', '/', { op: 'read', detail })
}
