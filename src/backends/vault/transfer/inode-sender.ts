import {
  type BlobRef,
  CHUNK_BYTES,
  findXattr,
  type Inode,
  listTags,
  listXattrs,
  type MaybePromise,
  readMetadata,
  toInlineText,
  type VaultFiles,
} from '../../../store/index.ts'
import type { PlacedInode } from './change-plan.ts'
import type { BlobNumber, StreamOperation } from './stream-operations.ts'
import type { StreamWriter } from './stream-writer.ts'
import type { VaultSource } from './vault-source.ts'

/** Chunks per operation; a larger file is sent in several operations. */
const CHUNKS_PER_OPERATION = 1024

/** The data of an inode besides its content. */
interface Attachments {
  readonly tags: readonly string[]
  readonly meta: Readonly<Record<string, string>>
  /** In base64. */
  readonly xattrs: Readonly<Record<string, string>>
}

const NO_ATTACHMENTS: Attachments = { tags: [], meta: {}, xattrs: {} }

/** Sends whole inodes and changes of inodes. Its generators pause when the writer is full. */
export class InodeSender {
  readonly #source: VaultSource
  readonly #writer: StreamWriter

  constructor(source: VaultSource, writer: StreamWriter) {
    this.#source = source
    this.#writer = writer
  }

  /** Sends a new inode. The time of a directory follows after its entries. */
  async *sendNew(placed: PlacedInode, inode: Inode): AsyncGenerator<void> {
    const { path } = placed
    const { type, mode, uid, gid } = inode
    const creation = { op: 'make', path, type, mode, uid, gid } as const
    const hasText = type === 'symlink' || type === 'other'
    this.#writer.add(hasText ? { ...creation, text: toInlineText(inode.content) } : creation)
    if (type === 'file' && inode.size > 0) yield* this.#sendContent(placed, inode)
    if (type !== 'directory') this.#writer.add(this.createSetattr(path, inode))
    yield* this.sendAttachments(placed)
  }

  /** Sends the changes of an inode since the base. */
  async *sendChanges(placed: PlacedInode, base: VaultSource): AsyncGenerator<void> {
    const { number, path } = placed
    const before = await base.read((files) => files.getInode(number))
    const after = await this.#source.read((files) => files.getInode(number))
    const isChanged = after.type === 'file' && (yield* this.#sendContentChanges(placed, before, after, base))
    if (after.type !== 'directory' && (isChanged || !hasSameAttributes(before, after)))
      this.#writer.add(this.createSetattr(path, after))
    yield* this.sendAttachments(placed, await base.read((files) => readAttachments(files, number)))
  }

  createSetattr(path: string, { mode, uid, gid, mtime }: Inode): StreamOperation {
    return { op: 'attributes', path, mode, uid, gid, mtime: [mtime.seconds, mtime.nanos] }
  }

  /** Sends changed tags, metadata and extended attributes. */
  async *sendAttachments(
    { number, path }: PlacedInode,
    before: Attachments = NO_ATTACHMENTS,
  ): AsyncGenerator<void> {
    const after = await this.#source.read((files) => readAttachments(files, number))
    const add = after.tags.filter((tag) => !before.tags.includes(tag))
    const remove = before.tags.filter((tag) => !after.tags.includes(tag))
    if (add.length + remove.length > 0) this.#writer.add({ op: 'tags', path, add, remove })
    const values = diffValues(before.meta, after.meta)
    if (values.length > 0) this.#writer.add({ op: 'meta', path, values: Object.fromEntries(values) })
    for (const [name, value] of diffValues(before.xattrs, after.xattrs)) {
      this.#writer.add({ op: 'xattr', path, name, value })
    }
    if (this.#writer.isFull) yield
  }

  /** Sends the whole content of a file. */
  async *#sendContent(placed: PlacedInode, { size, content }: Inode): AsyncGenerator<void> {
    const { number, path } = placed
    const count = chunkCount(size)
    if (content instanceof Uint8Array) {
      this.#writer.add({ op: 'write', path, size, inline: Buffer.from(content).toString('base64') })
    } else if (count > CHUNKS_PER_OPERATION) {
      this.#writer.add({ op: 'write', path, size: 0, inline: '' })
      yield* this.#sendPatches(placed, size, () => [])
    } else {
      const chunks: BlobNumber[] = []
      for (const ref of await this.#source.read((files) => listBlobRefs(files, number, 0, count))) {
        chunks.push(await this.#sendBlob(ref))
        if (this.#writer.isFull) yield
      }
      this.#writer.add({ op: 'write', path, size, chunks })
    }
  }

  /** Sends the changed content of a file. Returns whether there is any. */
  async *#sendContentChanges(
    placed: PlacedInode,
    before: Inode,
    after: Inode,
    base: VaultSource,
  ): AsyncGenerator<void, boolean> {
    const [oldContent, newContent] = [before.content, after.content]
    if (oldContent instanceof Uint8Array || newContent instanceof Uint8Array) {
      if (
        oldContent instanceof Uint8Array &&
        newContent instanceof Uint8Array &&
        Buffer.compare(oldContent, newContent) === 0
      )
        return false
      yield* this.#sendContent(placed, after)
      return true
    }
    const isResized = before.size !== after.size
    if (isResized) this.#writer.add({ op: 'patch', path: placed.path, size: after.size, chunks: [] })
    const hasChangedChunks = yield* this.#sendPatches(placed, after.size, (first, end) =>
      base.read((files) => listBlobRefs(files, placed.number, first, end)),
    )
    return isResized || hasChangedChunks
  }

  /** Sends the chunks that differ. Returns whether there are any. */
  async *#sendPatches(
    { number, path }: PlacedInode,
    size: number,
    listOldChunks: (first: number, end: number) => MaybePromise<readonly (BlobRef | undefined)[]>,
  ): AsyncGenerator<void, boolean> {
    let hasAny = false
    const count = chunkCount(size)
    for (let first = 0; first < count; first += CHUNKS_PER_OPERATION) {
      const end = Math.min(count, first + CHUNKS_PER_OPERATION)
      const old = await listOldChunks(first, end)
      const chunks: [number, BlobNumber][] = []
      for (const [offset, ref] of (
        await this.#source.read((files) => listBlobRefs(files, number, first, end))
      ).entries()) {
        if (ref?.blob === old[offset]?.blob) continue
        chunks.push([first + offset, await this.#sendBlob(ref)])
        if (this.#writer.isFull) yield
      }
      if (chunks.length > 0) this.#writer.add({ op: 'patch', path, size, chunks })
      hasAny ||= chunks.length > 0
    }
    return hasAny
  }

  async #sendBlob(ref: BlobRef | undefined): Promise<BlobNumber> {
    if (ref === undefined) return null
    return (
      this.#writer.findNumber(ref.blob) ?? this.#writer.addBlob(ref.blob, await this.#source.readBlob(ref))
    )
  }
}

/** Returns the chunks of a file in a range; undefined for a hole. */
function listBlobRefs(
  files: VaultFiles,
  number: number,
  first: number,
  end: number,
): (BlobRef | undefined)[] {
  const { content } = files.getInode(number)
  const single = content === 'chunks' || content instanceof Uint8Array ? undefined : content
  return Array.from({ length: end - first }, (_, offset) => {
    if (content === 'chunks') return files.findChunk(number, first + offset)
    return first + offset === 0 ? single : undefined
  })
}

function readAttachments(files: VaultFiles, number: number): Attachments {
  const xattrs = listXattrs(files, number).map((name) => {
    const value = findXattr(files, number, name) ?? new Uint8Array(0)
    return [name, Buffer.from(value).toString('base64')] as const
  })
  return {
    tags: listTags(files, number),
    meta: readMetadata(files, number),
    xattrs: Object.fromEntries(xattrs),
  }
}

/** Returns the changed values; null for a removed key. */
function diffValues(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): [key: string, value: string | null][] {
  const removed = Object.keys(before).filter((key) => !Object.hasOwn(after, key))
  const changed = Object.entries(after).filter(([key, value]) => before[key] !== value)
  return [...removed.map((key): [string, null] => [key, null]), ...changed]
}

function hasSameAttributes(before: Inode, after: Inode): boolean {
  const isSameTime = before.mtime.seconds === after.mtime.seconds && before.mtime.nanos === after.mtime.nanos
  return isSameTime && before.mode === after.mode && before.uid === after.uid && before.gid === after.gid
}

function chunkCount(size: number): number {
  return Math.ceil(size / CHUNK_BYTES)
}
