import { createHash } from 'node:crypto'
import {
  ancestors,
  assertSameVersion,
  byteStream,
  type Content,
  contentChunks,
  dirname,
  type Stat,
  VfsError,
  type WriteOptions,
} from '../../vfs/index.ts'
import type { Call } from './call.ts'
import type { Connection } from './connection.ts'
import type { Keys } from './keys.ts'
import { sendInParts } from './multipart.ts'
import { type Condition, deleteObject, deleteObjects, fetch, head, put } from './objects.ts'
import { DIRECTORY, hasKeys, keyPages } from './pages.ts'

/** The rules of a tree over keys that know none. Whoever changes it sees to it that nobody else does meanwhile. */
export class S3Tree {
  readonly #connection: Connection
  readonly #keys: Keys
  readonly #partSize: number

  constructor(connection: Connection, keys: Keys, partSize: number) {
    this.#connection = connection
    this.#keys = keys
    this.#partSize = partSize
  }

  /** What is at a path: a file, or else a directory if keys are below it; undefined where nothing is. */
  async find(path: string, call: Call): Promise<Stat | undefined> {
    if (path === '/') return DIRECTORY
    return (await this.#file(path, call)) ?? ((await this.#isPrefix(path, call)) ? DIRECTORY : undefined)
  }

  /** Stores a content whole. EISDIR, ENOTDIR, ENOENT, ECONFLICT, ENAMETOOLONG, EFBIG. */
  async write(content: Content, { parents = true, ifMatch }: WriteOptions, call: Call): Promise<void> {
    const { path } = call
    const key = this.#keys.storable(call)
    await Promise.all([this.assertDirectoriesAbove(path, call), this.#assertNoDirectory(path, call)])
    if (!parents && (await this.find(dirname(path), call)) === undefined) throw failure('ENOENT', call)
    const condition = await this.#condition(key, ifMatch, call)
    const parts = byteStream(() => contentChunks(content), path, { chunkSize: this.#partSize })
    const first = await parts.next()
    const second = first.done ? first : await parts.next()
    if (first.done || second.done) {
      return put(this.#connection, key, first.value ?? new Uint8Array(), condition, call)
    }
    await sendInParts(this.#connection, key, chain([first.value, second.value], parts), condition, call)
  }

  /** Removes a file, or with `recursive` every key below a directory, markers and what is not shown included. */
  async remove(path: string, recursive: boolean, call: Call): Promise<void> {
    const found = await this.find(path, call)
    if (found === undefined) throw failure('ENOENT', call)
    if (found.type === 'file') return deleteObject(this.#connection, this.#keys.of(path), call)
    if (!recursive) throw failure('EISDIR', call)
    for await (const page of keyPages(this.#connection, this.#keys.below(path), {}, call)) {
      await deleteObjects(
        this.#connection,
        page.map(({ key }) => key),
        call,
      )
    }
  }

  /** ENOTDIR if a directory above a path is a file. */
  async assertDirectoriesAbove(path: string, call: Call): Promise<void> {
    const above = ancestors(path).slice(1)
    const files = await Promise.all(above.map((directory) => this.#file(directory, call)))
    if (files.some((file) => file !== undefined)) throw new VfsError('ENOTDIR', path, { op: call.op })
  }

  async #assertNoDirectory(path: string, call: Call): Promise<void> {
    // Where both are, the file is what is shown, and so what is written.
    if ((await this.#isPrefix(path, call)) && (await this.#file(path, call)) === undefined) {
      throw failure('EISDIR', call)
    }
  }

  /** Looks now, so that a write in vain is not sent, and has the server look again when it stores. */
  async #condition(key: string, ifMatch: string | null | undefined, call: Call): Promise<Condition> {
    if (ifMatch === undefined) return {}
    if (ifMatch === null) {
      const there = await head(this.#connection, key, call)
      assertSameVersion(call.path, there?.etag ?? null, null)
      return { IfNoneMatch: '*' }
    }
    const seen = await this.#hashed(key, call)
    assertSameVersion(call.path, seen?.hash ?? null, ifMatch)
    return { IfMatch: seen?.etag ?? '' }
  }

  /** The hash of a content, and the version whose content that is. */
  async #hashed(key: string, call: Call): Promise<{ hash: string; etag: string } | undefined> {
    const fetched = await fetch(this.#connection, key, [0, Number.POSITIVE_INFINITY], call)
    if (fetched === undefined) return undefined
    const state = createHash('sha256')
    for await (const chunk of fetched.bytes) state.update(chunk)
    return { hash: state.digest('hex'), etag: fetched.etag }
  }

  async #file(path: string, call: Call): Promise<Stat | undefined> {
    return (await head(this.#connection, this.#keys.of(path), call))?.stat
  }

  #isPrefix(path: string, call: Call): Promise<boolean> {
    return hasKeys(this.#connection, this.#keys.below(path), call)
  }
}

function failure(code: 'ENOENT' | 'EISDIR', { op, path }: Call): VfsError {
  return new VfsError(code, path, { op })
}

async function* chain(
  taken: readonly Uint8Array[],
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* taken
  yield* rest
}
