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
import type { KeyMapping } from './key-mapping.ts'
import { DIRECTORY_STAT, hasKeys, listKeyPages } from './list-key-pages.ts'
import { sendInParts } from './multipart.ts'
import {
  deleteObject,
  deleteObjects,
  getObject,
  headObject,
  putObject,
  type WriteCondition,
} from './objects.ts'
import type { S3Call } from './s3-call.ts'
import type { S3Connection } from './s3-connection.ts'

/** Applies the rules of a tree to flat keys. The caller serialises changes. */
export class S3Tree {
  readonly #connection: S3Connection
  readonly #keys: KeyMapping
  readonly #partSize: number

  constructor(connection: S3Connection, keys: KeyMapping, partSize: number) {
    this.#connection = connection
    this.#keys = keys
    this.#partSize = partSize
  }

  /** Returns the stat of a file, or of a directory if keys are below the path; undefined if it is missing. */
  async find(path: string, call: S3Call): Promise<Stat | undefined> {
    if (path === '/') return DIRECTORY_STAT
    return (
      (await this.#findFile(path, call)) ?? ((await this.#isPrefix(path, call)) ? DIRECTORY_STAT : undefined)
    )
  }

  /** Stores a file. EISDIR, ENOTDIR, ENOENT, ECONFLICT, ENAMETOOLONG, EFBIG. */
  async write(content: Content, { parents = true, ifMatch }: WriteOptions, call: S3Call): Promise<void> {
    const { path } = call
    const key = this.#keys.toStorableKey(call)
    await Promise.all([this.assertDirectoriesAbove(path, call), this.#assertNoDirectory(path, call)])
    if (!parents && (await this.find(dirname(path), call)) === undefined)
      throw createTreeError('ENOENT', call)
    const condition = await this.#createCondition(key, ifMatch, call)
    const parts = byteStream(() => contentChunks(content), path, { chunkSize: this.#partSize })
    const first = await parts.next()
    const second = first.done ? first : await parts.next()
    if (first.done || second.done) {
      return putObject(this.#connection, key, first.value ?? new Uint8Array(), condition, call)
    }
    await sendInParts(
      this.#connection,
      key,
      concatStream([first.value, second.value], parts),
      condition,
      call,
    )
  }

  /** Removes a file, or with `recursive` every key below a directory, including markers and hidden keys. */
  async remove(path: string, recursive: boolean, call: S3Call): Promise<void> {
    const found = await this.find(path, call)
    if (found === undefined) throw createTreeError('ENOENT', call)
    if (found.type === 'file') return deleteObject(this.#connection, this.#keys.toKey(path), call)
    if (!recursive) throw createTreeError('EISDIR', call)
    for await (const page of listKeyPages(this.#connection, this.#keys.toPrefix(path), {}, call)) {
      await deleteObjects(
        this.#connection,
        page.map(({ key }) => key),
        call,
      )
    }
  }

  /** Throws ENOTDIR if a parent of the path is a file. */
  async assertDirectoriesAbove(path: string, call: S3Call): Promise<void> {
    const above = ancestors(path).slice(1)
    const files = await Promise.all(above.map((directory) => this.#findFile(directory, call)))
    if (files.some((file) => file !== undefined)) throw new VfsError('ENOTDIR', path, { op: call.op })
  }

  async #assertNoDirectory(path: string, call: S3Call): Promise<void> {
    // If both exist, the file is shown and written.
    if ((await this.#isPrefix(path, call)) && (await this.#findFile(path, call)) === undefined) {
      throw createTreeError('EISDIR', call)
    }
  }

  /** Compares `ifMatch` now, so that a hopeless write is not sent, and returns the condition that the server checks again. */
  async #createCondition(
    key: string,
    ifMatch: string | null | undefined,
    call: S3Call,
  ): Promise<WriteCondition> {
    if (ifMatch === undefined) return {}
    if (ifMatch === null) {
      const existing = await headObject(this.#connection, key, call)
      assertSameVersion(call.path, existing?.etag ?? null, null)
      return { IfNoneMatch: '*' }
    }
    const current = await this.#hashObject(key, call)
    assertSameVersion(call.path, current?.hash ?? null, ifMatch)
    return { IfMatch: current?.etag ?? '' }
  }

  /** Returns the hash of an object and its ETag. */
  async #hashObject(key: string, call: S3Call): Promise<{ hash: string; etag: string } | undefined> {
    const fetched = await getObject(this.#connection, key, [0, Number.POSITIVE_INFINITY], call)
    if (fetched === undefined) return undefined
    const state = createHash('sha256')
    for await (const chunk of fetched.bytes) state.update(chunk)
    return { hash: state.digest('hex'), etag: fetched.etag }
  }

  async #findFile(path: string, call: S3Call): Promise<Stat | undefined> {
    return (await headObject(this.#connection, this.#keys.toKey(path), call))?.stat
  }

  #isPrefix(path: string, call: S3Call): Promise<boolean> {
    return hasKeys(this.#connection, this.#keys.toPrefix(path), call)
  }
}

function createTreeError(code: 'ENOENT' | 'EISDIR', { op, path }: S3Call): VfsError {
  return new VfsError(code, path, { op })
}

async function* concatStream(
  head: readonly Uint8Array[],
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* head
  yield* rest
}
