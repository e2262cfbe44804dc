import { ByteReader, ByteWriter } from '../tree/bytes.ts'
import { groupOf, kinds } from '../tree/key.ts'
import type { TreeValue } from '../tree/records.ts'
import type { Tree } from '../tree/tree.ts'
import type { Block } from './block-builder.ts'
import { type Documents, PostingReader } from './posting-list.ts'
import { bucketOf } from './trigrams.ts'

/** Room for the entries of one block: its documents at place 0, then its buckets. */
const PLACES = 1 << 15
const SUB = ''

const writer = new ByteWriter()

/**
 * Stores a block behind all others in the tree of the index. Entries of a block lie together, so a further block
 * leaves nearly every page as it is.
 */
export function writeBlock(tree: Tree<TreeValue>, id: number, block: Block): void {
  tree.set(groupAt(id, 0), SUB, encodeDocuments(block))
  for (const { number, bytes } of block.buckets) tree.set(groupAt(id, 1 + number), SUB, bytes)
}

export function removeBlock(tree: Tree<TreeValue>, id: number): void {
  for (const group of [...groupsOf(tree, id)]) tree.delete(group, SUB)
}

/** A block as it is stored. */
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
    this.#header = new ByteReader(bytesAt(tree, groupAt(id, 0)))
    this.#bucketBits = this.#header.varint()
    this.unindexed = Array.from({ length: this.#header.varint() }, () => this.#header.varint())
  }

  /** The documents that contain a trigram, the unindexed ones aside. */
  documentsWith(trigram: number): Documents {
    const bucket = bytesAt(this.#tree, groupAt(this.#id, 1 + bucketOf(trigram, this.#bucketBits)))
    return new PostingReader(bucket).find(trigram)
  }

  /** The inode of each document. To be asked once. */
  inodes(): number[] {
    const reader = this.#header
    let inode = 0
    return Array.from({ length: reader.varint() }, () => {
      const zigzag = reader.varint()
      inode += zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2
      return inode
    })
  }

  /** Every posting list, in no order. */
  *postings(): Generator<{ trigram: number; documents: Documents }> {
    for (const group of groupsOf(this.#tree, this.#id)) {
      if (group !== groupAt(this.#id, 0)) yield* new PostingReader(bytesAt(this.#tree, group))
    }
  }
}

function encodeDocuments({ bucketBits, unindexed, inodes }: Block): Uint8Array {
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
  return writer.take()
}

function groupAt(block: number, place: number): number {
  return groupOf(block * PLACES + place, kinds.meta)
}

function* groupsOf(tree: Tree<TreeValue>, block: number): Generator<number> {
  const end = groupAt(block + 1, 0)
  for (const { group } of tree.from(groupAt(block, 0), SUB)) {
    if (group >= end) return
    yield group
  }
}

function bytesAt(tree: Tree<TreeValue>, group: number): Uint8Array {
  const value = tree.get(group, SUB)
  return value instanceof Uint8Array ? value : new Uint8Array(0)
}
