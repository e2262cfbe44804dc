import * as nodeFs from 'node:fs'
import { VfsError } from '../../vfs/index.ts'
import type { GitObject, ObjectReader, ObjectType } from './object-reader.ts'
import { findRepositoryPaths, type RepositoryPaths } from './repository-paths.ts'

type IsomorphicGit = typeof import('isomorphic-git')

/** A full id of either hash. */
const FULL_ID = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/
const SHORT_ID = /^[0-9a-f]{4,39}$/
/** Names that `refs` cannot contain, and syntax that Git would interpret. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const INVALID_NAME = /^$|^[-/]|\.\.|[\u0000-\u0020\u007f~^:?*[\\]|@\{/

/** Opens a repository of this machine without Git. No alternates, no SHA-256, and a size costs the whole content. */
export async function openIsomorphic(repository: string): Promise<ObjectReader> {
  return new IsomorphicReader(await loadIsomorphicGit(repository), await findRepositoryPaths(repository))
}

class IsomorphicReader implements ObjectReader {
  readonly #git: IsomorphicGit
  readonly #paths: RepositoryPaths
  /** Cache of isomorphic-git: the pack indexes it has read. */
  #cache: object = {}

  constructor(git: IsomorphicGit, paths: RepositoryPaths) {
    this.#git = git
    this.#paths = paths
  }

  async resolve(name: string): Promise<string> {
    if (INVALID_NAME.test(name))
      throw new VfsError('EINVAL', '/', { op: 'open', detail: `'${name}' is not a valid commit name` })
    try {
      return await this.#peelTag(await this.#resolveId(name))
    } catch (cause) {
      const detail = `there is no commit '${name}' in the repository`
      throw new VfsError('ENOENT', '/', { op: 'open', detail, cause })
    }
  }

  async objects(ids: readonly string[]): Promise<GitObject[]> {
    const found: GitObject[] = []
    for (const id of ids) found.push(await this.#readObject(id))
    return found
  }

  async sizes(ids: readonly string[]): Promise<number[]> {
    const sizes: number[] = []
    for (const id of ids) sizes.push((await this.#readObject(id)).bytes.length)
    return sizes
  }

  async *stream(id: string): AsyncGenerator<Uint8Array> {
    yield (await this.#readObject(id)).bytes
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#cache = {}
  }

  async #resolveId(name: string): Promise<string> {
    if (FULL_ID.test(name)) return name
    const { own, shared } = this.#paths
    try {
      // Files of one worktree, such as its HEAD, are not where the branches are.
      const head =
        name === 'HEAD' ? await this.#git.resolveRef({ fs: nodeFs, gitdir: own, ref: name, depth: 2 }) : name
      const ref = head.replace(/^ref: /, '')
      return FULL_ID.test(ref) ? ref : await this.#git.resolveRef({ fs: nodeFs, gitdir: shared, ref })
    } catch (error) {
      if (!SHORT_ID.test(name)) throw error
      return this.#git.expandOid({ fs: nodeFs, gitdir: shared, oid: name, cache: this.#cache })
    }
  }

  /** Follows a tag to its commit, through other tags if needed. */
  async #peelTag(id: string): Promise<string> {
    const { type, bytes } = await this.#readObject(id)
    if (type === 'commit') return id
    const target =
      type === 'tag' ? /^object ([0-9a-f]+)\n/.exec(Buffer.from(bytes).toString('latin1'))?.[1] : undefined
    if (target === undefined) throw new Error(`${id} is a ${type}`)
    return this.#peelTag(target)
  }

  async #readObject(oid: string): Promise<GitObject> {
    try {
      const found = await this.#git.readObject({
        fs: nodeFs,
        gitdir: this.#paths.shared,
        oid,
        format: 'content',
        cache: this.#cache,
      })
      if (!(found.object instanceof Uint8Array)) throw new Error('no content')
      return { type: parseType(found.type), bytes: found.object }
    } catch (cause) {
      const detail = `isomorphic-git finds no object ${oid}; install git, which reads every kind of repository`
      throw new VfsError('EUNAVAILABLE', '/', { op: 'read', detail, cause })
    }
  }
}

function parseType(type: string): ObjectType {
  if (type === 'blob' || type === 'tree' || type === 'commit' || type === 'tag') return type
  throw new Error(`unknown kind of object: ${type}`)
}

async function loadIsomorphicGit(repository: string): Promise<IsomorphicGit> {
  try {
    return await import('isomorphic-git')
  } catch (cause) {
    const detail =
      'reading a repository needs git 2.36 or newer, or the package isomorphic-git: npm install isomorphic-git'
    throw new VfsError('ENOTSUP', repository, { op: 'open', detail, cause })
  }
}
