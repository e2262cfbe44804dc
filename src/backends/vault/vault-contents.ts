import { hash } from 'node:crypto'
import {
  type BlobStore,
  chain,
  type ExtraRecords,
  type MaybePromise,
  MIN_SEGMENTED_BYTES,
  type OperationPlan,
  readContent,
  type StoredContent,
  storeBytes,
  storeStream,
  Upload,
  type VaultFiles,
} from '../../store/index.ts'
import {
  assertSameVersion,
  byteStream,
  type CallContext,
  type Content,
  type ReadOptions,
  VfsError,
  type WriteOptions,
} from '../../vfs/index.ts'
import type { FilesSource } from './files-source.ts'
import { openStream } from './open-stream.ts'
import { resolveInode, withoutLinks } from './resolve-paths.ts'
import { toProvenance } from './to-provenance.ts'
import { type FilesSnapshot, takeSnapshot } from './walk-files.ts'

/** Bytes of a UTF-16 unit in UTF-8, at most. */
const MAX_UTF8_BYTES = 3

/** A file that is stored in chunks. */
interface ChunkedFile extends FilesSnapshot {
  readonly number: number
}

/** Reads and writes the contents of a vault's files. */
export class VaultContents {
  readonly #source: FilesSource
  readonly #blobs: BlobStore

  constructor(source: FilesSource, blobs: BlobStore) {
    this.#source = source
    this.#blobs = blobs
  }

  read(path: string, options: ReadOptions, ctx?: CallContext): AsyncIterable<Uint8Array> {
    const opened = this.inspect((files) => {
      const number = getFileNumber(files, path, ctx)
      // Content that is not chunked is read with one lookup.
      if (files.getInode(number).content !== 'chunks')
        return { bytes: takeFirst(readContent(files, number, this.#blobs)) }
      return undefined
    })
    const found = chain(opened, (whole) => whole ?? this.#openChunks(path, ctx))
    return openStream(found, (source) =>
      'bytes' in source
        ? byteStream(source.bytes, path, options)
        : byteStream((start, length) => this.#readRange(source, start, length), path, options),
    )
  }

  write(path: string, content: Content, options: WriteOptions, ctx?: CallContext): Promise<void> {
    const submit = (stored: StoredContent, extraRecords?: ExtraRecords) =>
      this.#source.submit(
        withoutLinks(
          this.#createWritePlan(path, stored, options),
          { op: 'write', paths: [path], followLast: true },
          ctx,
        ),
        toProvenance(ctx),
        extraRecords,
      )
    if (typeof content !== 'string' && !(content instanceof Uint8Array))
      return this.#writeStream(content, submit)
    const bytes = this.#blobs.copy(content)
    if (bytes.length > MIN_SEGMENTED_BYTES) return this.#writeStream(toStream(bytes), submit)
    // Other content in memory is submitted synchronously, so that writes issued together are committed together.
    const stored = this.#blobs.reader.run(() => storeBytes(bytes, this.#blobs))
    return stored instanceof Promise ? stored.then((content) => submit(content)) : submit(stored)
  }

  /** Reads the current files; synchronously on a local engine. */
  inspect<T>(read: (files: VaultFiles) => T): MaybePromise<T> {
    return this.#blobs.reader.run(() => read(this.#source.readFiles()))
  }

  /** Reads the current files and protects them from collection while the caller reads on. */
  inspectHeld<T>(read: (files: VaultFiles) => T): MaybePromise<T> {
    return chain(this.#blobs.reader.session.beginRead(), () => this.inspect(read))
  }

  #openChunks(path: string, ctx: CallContext | undefined): MaybePromise<ChunkedFile> {
    return this.inspectHeld((files) => {
      const number = getFileNumber(files, path, ctx)
      return { ...takeSnapshot(files.tree.fork(), this.#blobs.reader), number }
    })
  }

  async *#readRange(
    { files, number, hold }: ChunkedFile,
    start: number,
    length: number,
  ): AsyncGenerator<Uint8Array> {
    const { reader } = this.#blobs
    try {
      for (let at = start; at < start + length; ) {
        const bytes = reader.run(() =>
          takeFirst(readContent(files, number, this.#blobs, at, start + length - at)),
        )
        const chunk = bytes instanceof Promise ? await bytes : bytes
        if (chunk.length === 0) return
        yield chunk
        at += chunk.length
      }
    } finally {
      hold.release()
    }
  }

  async #writeStream(
    content: AsyncIterable<Uint8Array | string>,
    submit: (stored: StoredContent, extraRecords: ExtraRecords) => Promise<void>,
  ): Promise<void> {
    await using upload = new Upload(this.#blobs)
    const stored = await storeStream(content, this.#blobs, upload)
    await submit(stored, upload.extraRecords)
  }

  #createWritePlan(
    path: string,
    content: StoredContent,
    { parents = true, ifMatch, mode }: WriteOptions,
  ): OperationPlan {
    return (files) => {
      if (ifMatch !== undefined) this.#assertVersion(files, path, ifMatch)
      return { op: 'write', path, content, parents, ...(mode !== undefined && { mode }) }
    }
  }

  #assertVersion(files: VaultFiles, path: string, expected: string | null): void {
    const number = files.findByPath(files.resolveLinks(path, true, 'write'))
    if (number !== undefined && String(files.getInode(number).version) === expected) return
    const content = number === undefined ? null : Buffer.concat([...readContent(files, number, this.#blobs)])
    assertSameVersion(path, content && hash('sha256', content), expected)
  }
}

/** Reports whether content is submitted without waiting for a stream. */
export function isSubmittedAtOnce(content: Content): boolean {
  if (typeof content === 'string') return content.length * MAX_UTF8_BYTES <= MIN_SEGMENTED_BYTES
  return content instanceof Uint8Array && content.length <= MIN_SEGMENTED_BYTES
}

function getFileNumber(files: VaultFiles, path: string, ctx: CallContext | undefined): number {
  const number = resolveInode(files, path, true, 'read', ctx)
  if (files.getInode(number).type === 'directory') throw new VfsError('EISDIR', path, { op: 'read' })
  return number
}

function takeFirst(chunks: Iterable<Uint8Array>): Uint8Array {
  for (const chunk of chunks) return chunk
  return new Uint8Array(0)
}

async function* toStream(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
