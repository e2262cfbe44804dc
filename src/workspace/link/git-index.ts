import { createHash } from 'node:crypto'
import { type IndexEntry, isSameStaging, readIndex } from '../../git-files/index.ts'
import type { TreeChange } from './compare-trees.ts'
import type { LinkEntry } from './link-entry.ts'

const INDEX = /\/\.git\/(?:(?:worktrees|modules)\/.+\/)?index$/
const MAX_BYTES = 256 * 2 ** 20
const HEADER_BYTES = 12

/** Reports whether two states of a Git index list the same files with the same content. */
export function isRefreshedIndex(
  path: string,
  one: LinkEntry | undefined,
  other: LinkEntry | undefined,
): boolean {
  if (!INDEX.test(path) || one?.type !== 'file' || other?.type !== 'file') return false
  if (one.mode !== other.mode || Math.max(one.size, other.size) > MAX_BYTES) return false
  return isSameStaging(readBytes(one), readBytes(other))
}

/** True for a change that is no more than a refreshed index: nobody would keep it. */
export function isRefresh({ path, before, after }: TreeChange): boolean {
  return isRefreshedIndex(path, before, after)
}

function readBytes(entry: LinkEntry): Buffer {
  return Buffer.concat([...entry.content()])
}

/**
 * Merges the staged files of three states of an index. Returns an index of version 2 or 3; undefined if both changed
 * one file, or if one of them has a form that cannot be merged.
 */
export function mergeIndexes(
  base: LinkEntry | undefined,
  ours: LinkEntry | undefined,
  theirs: LinkEntry | undefined,
): Buffer | undefined {
  const sides = [base, ours, theirs].map((entry) =>
    entry?.type === 'file' && entry.size <= MAX_BYTES ? readIndex(readBytes(entry)) : undefined,
  )
  const [before, mine, their] = sides.map(
    (side) => side && new Map(side.entries.map((each) => [each.key, each])),
  )
  const idBytes = sides[1]?.idBytes
  if (before === undefined || mine === undefined || their === undefined || idBytes === undefined)
    return undefined
  if (sides.some((side) => side?.idBytes !== idBytes || side.hasRequiredExtension)) return undefined
  const merged: IndexEntry[] = []
  for (const key of new Set([...mine.keys(), ...their.keys()])) {
    const [old, own, other] = [before.get(key), mine.get(key), their.get(key)]
    const isOwn = other?.line === old?.line || own?.line === other?.line
    if (!isOwn && own?.line !== old?.line) return undefined
    const entry = isOwn ? own : other
    if (entry !== undefined) merged.push(entry)
  }
  return writeIndex(merged, idBytes)
}

function writeIndex(entries: readonly IndexEntry[], idBytes: number): Buffer {
  const sorted = entries.toSorted(
    (one, other) => Buffer.compare(one.path, other.path) || one.stage - other.stage,
  )
  const header = Buffer.alloc(HEADER_BYTES)
  header.write('DIRC', 'latin1')
  header.writeUInt32BE(entries.some(({ isExtended }) => isExtended) ? 3 : 2, 4)
  header.writeUInt32BE(entries.length, 8)
  const body = sorted.map(({ fields, path }) => {
    const length = fields.length + path.length
    return Buffer.concat([fields, path, Buffer.alloc(8 - (length % 8))])
  })
  const content = Buffer.concat([header, ...body])
  const hash = createHash(idBytes === 20 ? 'sha1' : 'sha256')
    .update(content)
    .digest()
  return Buffer.concat([content, hash])
}
