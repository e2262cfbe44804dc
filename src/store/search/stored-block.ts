import { ByteReader, ByteWriter } from '../tree/byte-codec.ts'
import type { Tree } from '../tree/tree.ts'
import { entryKinds, toGroup } from '../tree/tree-key.ts'
import type { TreeValue } from '../tree/tree-values.ts'
import type { IndexBlock } from './block-builder.ts'
import { type Documents, PostingReader } from './posting-list.ts'
import { toBucket } from './trigrams.ts'

/** Number of groups per block: its documents at index 0, then its buckets. */
const GROUPS_PER_BLOCK = 1 << 15
const EMPTY_SUB_KEY = ''

const writer = new ByteWriter()

/**
 * Stores a block after all others in the tree of the index. Entries of a block are adjacent, so a new block leaves
 * nearly every page unchanged.
 */
export function writeBlock(tree: Tree<TreeValue>, id: number, block: IndexBlock): void {
  tree.set(toBlockGroup(id, 0), EMPTY_SUB_KEY, encodeDocuments(block))
  for (const { number, bytes } of block.buckets) tree.set(toBlockGroup(id, 1 + number), EMPTY_SUB_KEY, bytes)
}

export function removeBlock(tree: Tree<TreeValue>, id: number): void {
  for (const group of [...listBlockGroups(tree, id)]) tree.delete(group, EMPTY_SUB_KEY)
}

/** A stored block. */
export class StoredBlock {
  readonly #tree: Tree<TreeValue>
  readonly #id: number
  readonly #header: ByteReader
  readonly #bucketBits: number
  /** Documents that may contain anything. */
  readonly unindexed: readonly number[]

  constructor(tree: Tree<TreeValue>, id: number) {
    this.#tree = tree
    this.#id = id
    this.#header = new ByteReader(readBytes(tree, toBlockGroup(id, 0)))
    this.#bucketBits = this.#header.varint()
    this.unindexed = Array.from({ length: this.#header.varint() }, () => this.#header.varint())
  }

  /** Returns the documents that contain a trigram, without the unindexed ones. */
  findDocuments(trigram: number): Documents {
    const bucket = readBytes(this.#tree, toBlockGroup(this.#id, 1 + toBucket(trigram, this.#bucketBits)))
    return new PostingReader(bucket).find(trigram)
  }

  /** Reads the inode of each document; call it once. */
  readInodes(): number[] {
    const reader = this.#header
    let inode = 0
    return Array.from({ length: reader.varint() }, () => {
      const zigzag = reader.varint()
      inode += zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2
      return inode
    })
  }

  /** Yields every posting list, in no order. */
  *readPostings(): Generator<{ trigram: number; documents: Documents }> {
    for (const group of listBlockGroups(this.#tree, this.#id)) {
      if (group !== toBlockGroup(this.#id, 0)) yield* new PostingReader(readBytes(this.#tree, group))
    }
  }
}

function encodeDocuments({ bucketBits, unindexed, inodes }: IndexBlock): Uint8Array {
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

function toBlockGroup(block: number, position: number): number {
  return toGroup(block * GROUPS_PER_BLOCK + position, entryKinds.meta)
}

function* listBlockGroups(tree: Tree<TreeValue>, block: number): Generator<number> {
  const end = toBlockGroup(block + 1, 0)
  for (const { group } of tree.iterateFrom(toBlockGroup(block, 0), EMPTY_SUB_KEY)) {
    if (group >= end) return
    yield group
  }
}

function readBytes(tree: Tree<TreeValue>, group: number): Uint8Array {
  const value = tree.get(group, EMPTY_SUB_KEY)
  return value instanceof Uint8Array ? value : new Uint8Array(0)
}
