import { crc32 } from 'node:zlib'
import { VfsError } from '../../vfs/index.ts'
import { ByteReader, ByteWriter } from './byte-codec.ts'
import { entryKinds, getGroupKind, type SubKey } from './tree-key.ts'
import { createBranch, createLeaf, getItem, isBranch, type TreeNode } from './tree-node.ts'

/** Encoding of a leaf's values; the kind of the key determines their type. */
export interface ValueCodec<V> {
  encode(value: V, writer: ByteWriter): void
  decode(kind: number, reader: ByteReader): V
  /** Returns true only for values that are encoded differently; false says nothing. It saves the encoding of both. */
  isPlainlyOther(one: V, other: V): boolean
  /** Lists the blobs to which a value refers. */
  listBlobs(value: V): readonly { readonly blob: number }[]
}

/** First byte of a page. SPEC.md describes the layout; a change of it is a new number. */
const PAGE_FORMAT = 1
const CHECKSUM_BYTES = 4

/** Encodes nodes as pages and decodes them. A page has a checksum, so that a flipped bit is detected. */
export class PageCodec<V> {
  readonly #values: ValueCodec<V>
  readonly #writer = new ByteWriter()

  constructor(values: ValueCodec<V>) {
    this.#values = values
  }

  listBlobs(value: V): readonly { readonly blob: number }[] {
    return this.#values.listBlobs(value)
  }

  /** Encodes a node whose children are all stored. */
  encode(node: TreeNode<V>): Uint8Array {
    const writer = this.#writer
    // A node that could not be encoded leaves its beginning.
    writer.clear()
    writer.byte(PAGE_FORMAT)
    writer.byte(node.level)
    writer.varint(node.groups.length)
    const isReplacingFirst = hasLargerFirstGroup(node)
    let previous = 0
    for (let index = 0; index < node.groups.length; index++) {
      const isReplaced = index === 0 && isReplacingFirst
      const group = getItem(node.groups, isReplaced ? 1 : index)
      const sub = isReplaced ? getSmallestSub(group) : getItem(node.subs, index)
      writer.varint(group - previous)
      previous = group
      encodeSub(writer, group, sub)
      if (isBranch(node)) writer.varint(assertStoredChild(node.children[index]))
      else this.#values.encode(getItem(node.values, index), writer)
    }
    writer.uint32(crc32(writer.view()))
    return writer.takeBytes()
  }

  /** Reports whether two values are the same, bit for bit. */
  isSameValue(one: V, other: V): boolean {
    if (this.#values.isPlainlyOther(one, other)) return false
    return Buffer.compare(this.#encodeValue(one), this.#encodeValue(other)) === 0
  }

  #encodeValue(value: V): Uint8Array {
    this.#writer.clear()
    this.#values.encode(value, this.#writer)
    return this.#writer.takeBytes()
  }

  /** Decodes a page. Throws EIO if it is damaged, or of an unknown format. */
  decode(id: number, page: Uint8Array): TreeNode<V> {
    const content = page.subarray(0, page.length - CHECKSUM_BYTES)
    const checksum = page.length > CHECKSUM_BYTES ? new ByteReader(page, content.length).uint32() : -1
    if (checksum !== crc32(content)) throw createDamagedPageError(id, 'its checksum does not match')
    const [format] = content
    if (format !== PAGE_FORMAT)
      throw createDamagedPageError(id, `its format is ${format}, this version knows ${PAGE_FORMAT}`)
    const node = this.#tryDecode(id, content, false) ?? this.#tryDecode(id, content, true)
    if (node === undefined) throw createDamagedPageError(id, 'its entries do not end where it ends')
    return node
  }

  /**
   * Decodes the entries of a page; undefined if they do not end where it ends.
   * @param isSteppingBack true to read a branch whose second key is smaller than its first. Earlier versions wrote the
   * negative difference of their groups into one byte.
   */
  #tryDecode(id: number, content: Uint8Array, isSteppingBack: boolean): TreeNode<V> | undefined {
    try {
      const reader = new ByteReader(content, 1)
      const node = this.#decodeEntries(id, reader, isSteppingBack)
      return reader.isAtEnd ? node : undefined
    } catch (error) {
      if (error instanceof RangeError) return undefined
      throw error
    }
  }

  #decodeEntries(id: number, reader: ByteReader, isSteppingBack: boolean): TreeNode<V> {
    const level = reader.byte()
    const node = { id, edit: null, groups: [] as number[], subs: [] as SubKey[] }
    const values: V[] = []
    const children: number[] = []
    let group = 0
    for (let count = reader.varint(); count > 0; count--) {
      group += isSteppingBack && node.groups.length === 1 ? reader.byte() - 0x100 : reader.varint()
      node.groups.push(group)
      node.subs.push(decodeSub(reader, group))
      if (level > 0) children.push(reader.varint())
      else values.push(this.#values.decode(getGroupKind(group), reader))
    }
    return level > 0 ? createBranch(node, level, children) : createLeaf(node, values)
  }
}

/**
 * Reports whether the first group of a branch is larger than the second. The first key is never compared, and may be so
 * after smaller keys were inserted. A stored page has its keys in order, so the smallest key of the second group replaces
 * it there.
 */
function hasLargerFirstGroup<V>(node: TreeNode<V>): boolean {
  const [first, second] = node.groups
  return isBranch(node) && first !== undefined && second !== undefined && second < first
}

function getSmallestSub(group: number): SubKey {
  return hasTextSub(group) ? '' : 0
}

function encodeSub(writer: ByteWriter, group: number, sub: SubKey): void {
  if (typeof sub === 'number') writer.varint(sub)
  else if (hasTextSub(group)) writer.text(sub)
}

function decodeSub(reader: ByteReader, group: number): SubKey {
  return hasTextSub(group) ? reader.text() : reader.varint()
}

/** Reports whether keys of a group have text: inodes and chunks have numbers. */
function hasTextSub(group: number): boolean {
  const kind = getGroupKind(group)
  return kind !== entryKinds.inode && kind !== entryKinds.chunk
}

function assertStoredChild(child: unknown): number {
  if (typeof child === 'number') return child
  throw new TypeError('a page can only name children that are stored')
}

function createDamagedPageError(id: number, detail: string): VfsError {
  return new VfsError('EIO', `page ${id}`, {
    op: 'load',
    detail: `page ${id} is damaged: ${detail}; run fsck`,
  })
}
