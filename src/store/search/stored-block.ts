import { ByteReader, ByteWriter } from '../tree/byte-codec.ts'
import type { Tree } from '../tree/tree.ts'
import { entryKinds, toGroup } from '../tree/tree-key.ts'
import type { TreeValue } from '../tree/tree-values.ts'
import type { IndexBlock } from './block-builder.ts'
import { type Documents, PostingReader } from './posting-list.ts'
import { toBucket } from './trigrams.ts'

/** Positions reserved for each block: one for its header, then those of its buckets, at most half as many. */
const POSITIONS_PER_BLOCK = 1 << 15
const HEADER_POSITION = 0
const FIRST_BUCKET_POSITION = 1
const EMPTY_SUB_KEY = ''

const writer = new ByteWriter()

/**
 * Stores a block after all others in the tree of the index. Entries of a block are adjacent, so a new block leaves
 * nearly every page unchanged.
 */
export function writeBlock(tree: Tree<TreeValue>, id: number, block: IndexBlock): void {
  tree.set(toBlockGroup(id, HEADER_POSITION), EMPTY_SUB_KEY, encodeHeader(block))
  for (const { number, bytes } of block.buckets)
    tree.set(toBlockGroup(id, FIRST_BUCKET_POSITION + number), EMPTY_SUB_KEY, bytes)
}

export function removeBlock(tree: Tree<TreeValue>, id: number): void {
  for (const group of [...listBlockGroups(tree, id)]) tree.delete(group, EMPTY_SUB_KEY)
}

/** A stored block. RangeError if its header is missing or damaged. */
export class StoredBlock {
  readonly #tree: Tree<TreeValue>
  readonly #id: number
  readonly #bucketBits: number
  /** Documents without postings, which every search reads. */
  readonly unindexed: readonly number[]
  /** The header, read up to its inodes. */
  readonly #inodeReader: ByteReader
  #inodes: readonly number[] | undefined

  constructor(tree: Tree<TreeValue>, id: number) {
    this.#tree = tree
    this.#id = id
    const header = new ByteReader(readBytes(tree, toBlockGroup(id, HEADER_POSITION)))
    this.#bucketBits = header.varint()
    this.unindexed = Array.from({ length: header.varint() }, () => header.varint())
    this.#inodeReader = header
  }

  /** Inode of each document, decoded on first use. */
  get inodes(): readonly number[] {
    this.#inodes ??= decodeInodes(this.#inodeReader)
    return this.#inodes
  }

  /** Returns the documents that contain a trigram, without the unindexed ones. */
  findDocuments(trigram: number): Documents {
    const position = FIRST_BUCKET_POSITION + toBucket(trigram, this.#bucketBits)
    return new PostingReader(readBytes(this.#tree, toBlockGroup(this.#id, position))).find(trigram)
  }

  /** Yields every posting list, in no order. */
  *readPostings(): Generator<{ trigram: number; documents: Documents }> {
    for (const group of listBlockGroups(this.#tree, this.#id)) {
      if (group !== toBlockGroup(this.#id, HEADER_POSITION))
        yield* new PostingReader(readBytes(this.#tree, group))
    }
  }
}

function encodeHeader({ bucketBits, unindexed, inodes }: IndexBlock): Uint8Array {
  writer.varint(bucketBits)
  writer.varint(unindexed.length)
  for (const document of unindexed) writer.varint(document)
  writer.varint(inodes.length)
  let previous = 0
  for (const inode of inodes) {
    const difference = inode - previous
    writer.varint(difference >= 0 ? difference * 2 : -difference * 2 - 1)
    previous = inode
  }
  return writer.takeBytes()
}

/** Decodes the last part of a header: differences, zigzag-encoded because inodes may descend. */
function decodeInodes(reader: ByteReader): number[] {
  let inode = 0
  return Array.from({ length: reader.varint() }, () => {
    const zigzag = reader.varint()
    inode += zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2
    return inode
  })
}

function toBlockGroup(block: number, position: number): number {
  return toGroup(block * POSITIONS_PER_BLOCK + position, entryKinds.meta)
}

function* listBlockGroups(tree: Tree<TreeValue>, block: number): Generator<number> {
  const end = toBlockGroup(block + 1, 0)
  for (const { group } of tree.iterateFrom(toBlockGroup(block, 0), EMPTY_SUB_KEY)) {
    // Groups ascend: those of the next block follow.
    if (group >= end) return
    yield group
  }
}

/** Returns the bytes of an entry; none if it is missing, as an empty bucket is. */
function readBytes(tree: Tree<TreeValue>, group: number): Uint8Array {
  const value = tree.get(group, EMPTY_SUB_KEY)
  return value instanceof Uint8Array ? value : new Uint8Array(0)
}
