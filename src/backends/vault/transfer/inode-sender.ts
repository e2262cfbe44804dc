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

/** A file of more chunks is sent in several operations. */
const CHUNKS_PER_OPERATION = 1024

/** What hangs on an inode beside its content. */
interface Attachments {
  readonly tags: readonly string[]
  readonly meta: Readonly<Record<string, string>>
  /** In base64. */
  readonly xattrs: Readonly<Record<string, string>>
}

const NO_ATTACHMENTS: Attachments = { tags: [], meta: {}, xattrs: {} }

/** Sends inodes: whole ones, and what has changed of them. Its generators pause when enough is ready to go. */
export class InodeSender {
  readonly #source: VaultSource
  readonly #writer: StreamWriter

  constructor(source: VaultSource, writer: StreamWriter) {
    this.#source = source
    this.#writer = writer
  }

  /** Everything of a new inode, but for the time of a directory: that comes when all in it is done. */
  async *sendNew(arrival: PlacedInode, inode: Inode): AsyncGenerator<void> {
    const { path } = arrival
    const { type, mode, uid, gid } = inode
    const made = { op: 'make', path, type, mode, uid, gid } as const
    const hasText = type === 'symlink' || type === 'other'
    this.#writer.add(hasText ? { ...made, text: toInlineText(inode.content) } : made)
    if (type === 'file' && inode.size > 0) yield* this.#sendContent(arrival, inode)
    if (type !== 'directory') this.#writer.add(this.createSetattr(path, inode))
    yield* this.sendAttachments(arrival)
  }

  /** What of an inode is not as it was in the base. */
  async *sendChanges(arrival: PlacedInode, base: VaultSource): AsyncGenerator<void> {
    const { number, path } = arrival
    const before = await base.read((files) => files.getInode(number))
    const after = await this.#source.read((files) => files.getInode(number))
    const isChanged = after.type === 'file' && (yield* this.#sendContentChanges(arrival, before, after, base))
    if (after.type !== 'directory' && (isChanged || !hasSameAttributes(before, after)))
      this.#writer.add(this.createSetattr(path, after))
    yield* this.sendAttachments(arrival, await base.read((files) => readAttachments(files, number)))
  }

  createSetattr(path: string, { mode, uid, gid, mtime }: Inode): StreamOperation {
    return { op: 'attributes', path, mode, uid, gid, mtime: [mtime.seconds, mtime.nanos] }
  }

  /** Tags, metadata and extended attributes, as far as they are not there already. */
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

  /** All of a file's content, whatever was there. */
  async *#sendContent(arrival: PlacedInode, { size, content }: Inode): AsyncGenerator<void> {
    const { number, path } = arrival
    const count = chunkCount(size)
    if (content instanceof Uint8Array) {
      this.#writer.add({ op: 'write', path, size, inline: Buffer.from(content).toString('base64') })
    } else if (count > CHUNKS_PER_OPERATION) {
      this.#writer.add({ op: 'write', path, size: 0, inline: '' })
      yield* this.#sendPatches(arrival, size, () => [])
    } else {
      const chunks: BlobNumber[] = []
      for (const ref of await this.#source.read((files) => listBlobRefs(files, number, 0, count))) {
        chunks.push(await this.#sendBlob(ref))
        if (this.#writer.isFull) yield
      }
      this.#writer.add({ op: 'write', path, size, chunks })
    }
  }

  /** Sends what of a file's content is not as it was; whether there is something. */
  async *#sendContentChanges(
    arrival: PlacedInode,
    before: Inode,
    after: Inode,
    base: VaultSource,
  ): AsyncGenerator<void, boolean> {
    const [was, is] = [before.content, after.content]
    if (was instanceof Uint8Array || is instanceof Uint8Array) {
      if (was instanceof Uint8Array && is instanceof Uint8Array && Buffer.compare(was, is) === 0) return false
      yield* this.#sendContent(arrival, after)
      return true
    }
    const isResized = before.size !== after.size
    if (isResized) this.#writer.add({ op: 'patch', path: arrival.path, size: after.size, chunks: [] })
    const areOthers = yield* this.#sendPatches(arrival, after.size, (first, end) =>
      base.read((files) => listBlobRefs(files, arrival.number, first, end)),
    )
    return isResized || areOthers
  }

  /** Sends the chunks that are others than those there; whether there are any. */
  async *#sendPatches(
    { number, path }: PlacedInode,
    size: number,
    there: (first: number, end: number) => MaybePromise<readonly (BlobRef | undefined)[]>,
  ): AsyncGenerator<void, boolean> {
    let areAny = false
    const count = chunkCount(size)
    for (let first = 0; first < count; first += CHUNKS_PER_OPERATION) {
      const end = Math.min(count, first + CHUNKS_PER_OPERATION)
      const old = await there(first, end)
      const chunks: [number, BlobNumber][] = []
      for (const [at, ref] of (
        await this.#source.read((files) => listBlobRefs(files, number, first, end))
      ).entries()) {
        if (ref?.blob === old[at]?.blob) continue
        chunks.push([first + at, await this.#sendBlob(ref)])
        if (this.#writer.isFull) yield
      }
      if (chunks.length > 0) this.#writer.add({ op: 'patch', path, size, chunks })
      areAny ||= chunks.length > 0
    }
    return areAny
  }

  async #sendBlob(ref: BlobRef | undefined): Promise<BlobNumber> {
    if (ref === undefined) return null
    return (
      this.#writer.findNumber(ref.blob) ?? this.#writer.addBlob(ref.blob, await this.#source.readBlob(ref))
    )
  }
}

/** The chunks of a file from one on and before another; undefined where nothing was written. */
function listBlobRefs(
  files: VaultFiles,
  number: number,
  first: number,
  end: number,
): (BlobRef | undefined)[] {
  const { content } = files.getInode(number)
  const only = content === 'chunks' || content instanceof Uint8Array ? undefined : content
  return Array.from({ length: end - first }, (_, offset) => {
    if (content === 'chunks') return files.findChunk(number, first + offset)
    return first + offset === 0 ? only : undefined
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

/** The values that are others, null where there is none any more. */
function diffValues(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): [key: string, value: string | null][] {
  const gone = Object.keys(before).filter((key) => !Object.hasOwn(after, key))
  const other = Object.entries(after).filter(([key, value]) => before[key] !== value)
  return [...gone.map((key): [string, null] => [key, null]), ...other]
}

function hasSameAttributes(before: Inode, after: Inode): boolean {
  const isSameTime = before.mtime.seconds === after.mtime.seconds && before.mtime.nanos === after.mtime.nanos
  return isSameTime && before.mode === after.mode && before.uid === after.uid && before.gid === after.gid
}

function chunkCount(size: number): number {
  return Math.ceil(size / CHUNK_BYTES)
}
