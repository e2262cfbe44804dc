import { crc32 } from 'node:zlib'
import { isVfsError } from '../vfs/index.ts'
import type { Engine } from './engine.ts'
import { isBranch, type Node } from './tree/node.ts'
import type { PageCodec } from './tree/page.ts'
import type { BlobRef, TreeValue } from './tree/records.ts'
import { settled } from './vault/settled.ts'

/** A page or blob that is not what was stored, and what is wrong with it. */
export interface Damage {
  readonly kind: 'page' | 'blob'
  readonly id: number
  readonly detail: string
}

export interface FsckReport {
  /** How many pages and blobs were looked at. */
  readonly checked: number
  readonly damaged: readonly Damage[]
}

/** Reads every page and blob that the given roots lead to, each once, and names every one that is damaged. */
export function fsck(engine: Engine, codec: PageCodec<TreeValue>, roots: Iterable<number>): FsckReport {
  const damaged: Damage[] = []
  const pages = new Set(roots)
  const blobs = new Set<number>()
  // A set hands out what is added to it while it is walked, so this goes down to the leaves.
  for (const id of pages) {
    const node = readNode(engine, codec, id)
    if (typeof node === 'string') damaged.push({ kind: 'page', id, detail: node })
    else if (isBranch(node)) for (const child of node.children) pages.add(Number(child))
    else {
      for (const ref of node.values.flatMap(blobsOf)) {
        if (blobs.has(ref.blob)) continue
        blobs.add(ref.blob)
        const detail = blobProblem(engine, ref)
        if (detail !== undefined) damaged.push({ kind: 'blob', id: ref.blob, detail })
      }
    }
  }
  return { checked: pages.size + blobs.size, damaged }
}

/** The node of a page, or what is wrong with it. */
function readNode(engine: Engine, codec: PageCodec<TreeValue>, id: number): Node<TreeValue> | string {
  const page = settled(engine.readPage(id))
  if (page === undefined) return 'it is missing'
  try {
    return codec.decode(id, page)
  } catch (error) {
    if (isVfsError(error) || error instanceof RangeError) return error.message
    throw error
  }
}

function blobProblem(engine: Engine, { blob, size, crc }: BlobRef): string | undefined {
  const bytes = settled(engine.readBlob(blob))
  if (bytes === undefined) return 'it is missing'
  if (bytes.length !== size) return `it has ${bytes.length} bytes, not ${size}`
  return crc32(bytes) === crc ? undefined : 'its checksum does not match'
}

function blobsOf(value: TreeValue): BlobRef[] {
  if (value instanceof Uint8Array) return []
  if ('blob' in value) return [value]
  return 'content' in value && value.content !== 'chunks' && !(value.content instanceof Uint8Array)
    ? [value.content]
    : []
}
