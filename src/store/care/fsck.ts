import { crc32 } from 'node:zlib'
import { isVfsError } from '../../vfs/index.ts'
import type { Answer } from '../engine.ts'
import { messageOf } from '../engines/engine-errors.ts'
import type { StoreHome } from '../home.ts'
import type { Node } from '../tree/node.ts'
import type { BlobRef, TreeValue } from '../tree/records.ts'
import { uploadPrefix } from '../vault/upload.ts'
import { checkNames } from './check-names.ts'
import type { Damage } from './damage.ts'
import { withPlaces } from './damage-places.ts'
import type { LongWork } from './progress.ts'
import { Reach } from './reach.ts'
import { rootsOf } from './roots.ts'

export interface FsckReport {
  /** How many pages and blobs were looked at. */
  readonly checked: number
  readonly damaged: readonly Damage[]
}

/**
 * Reads every page and blob in use, each once, and names every one that is damaged; then, if all pages are sound,
 * makes sure of each vault that names and files belong together.
 *
 * Beside a collection of another process it holds the trees that it reads. A version that only the journal named may
 * go all the same, so damage counts only if a second walk from new roots meets it again: no collection removes what
 * those lead to.
 */
export async function fsck(home: StoreHome, options: LongWork = {}): Promise<FsckReport> {
  const broken = home.engine.findDamage?.() ?? []
  // To read such a store through its engine could end the process.
  if (broken.length > 0) {
    return { checked: 0, damaged: broken.map((detail) => ({ kind: 'store', id: 0, detail })) }
  }
  await home.settleAll()
  const first = await checkAll(home, options)
  if (first.damaged.length === 0) return first
  const { checked, damaged } = await checkAll(home, options)
  const known = new Set(first.damaged.map(nameDamage))
  const confirmed = damaged.filter((damage) => known.has(nameDamage(damage)))
  return { checked, damaged: await withPlaces(home, confirmed) }
}

/** The damaged object, whatever is said of it. */
function nameDamage({ kind, id, places = [] }: Damage): string {
  return JSON.stringify([kind, id, places])
}

function checkAll(home: StoreHome, options: LongWork): Promise<FsckReport> {
  return home.holding((hold) => checkHeld(home, hold, options))
}

async function checkHeld(
  home: StoreHome,
  hold: (root: number) => number,
  { onProgress, signal }: LongWork,
): Promise<FsckReport> {
  const damaged: Damage[] = []
  const total = await countOf(home)
  const report = (damage: Damage) => damaged.push(damage)
  const reach = new Reach(home, {
    damage: report,
    hold,
    page: async (id) => {
      const node = await readNode(home, id)
      if (typeof node !== 'string') return node
      damaged.push({ kind: 'page', id, detail: node })
      return undefined
    },
    blob: async (ref) => {
      const bytes = await readable(() => home.engine.readBlob(ref.blob))
      const detail = typeof bytes === 'string' ? bytes : blobProblem(bytes, ref)
      if (detail !== undefined) damaged.push({ kind: 'blob', id: ref.blob, detail })
    },
    pause: () => {
      signal?.throwIfAborted()
      const done = reach.pages.size + reach.blobs.size
      onProgress?.({ phase: 'checking', done, total: Math.max(total, done) })
    },
  })
  const roots = await rootsOf(home, report)
  await reach.follow(roots)
  if (total > 0 && roots.heads.length === 0) damaged.push(...(await findLostRecords(home, total)))
  if (!damaged.some(({ kind }) => kind === 'page')) {
    for (const { id, root } of roots.heads) {
      signal?.throwIfAborted()
      const problems = await findNameProblems(home, root)
      damaged.push(...problems.map((detail) => ({ kind: 'vault', id, detail }) as const))
    }
  }
  return { checked: reach.pages.size + reach.blobs.size, damaged }
}

async function findNameProblems(home: StoreHome, root: number): Promise<readonly string[]> {
  try {
    return await home.reader.resolve(() => checkNames(home.filesAt(root)))
  } catch (error) {
    if (isVfsError(error, 'EIO')) return [error.message]
    throw error
  }
}

/** Reports lost records where pages and blobs are left of no vault that was deleted and of no stream. */
async function findLostRecords({ reader }: StoreHome, total: number): Promise<Damage[]> {
  const isKnown = await reader.resolve(() => {
    if (reader.record('ids') === undefined) return false
    return ['deleted/', uploadPrefix].some((prefix) => reader.records(prefix).length > 0)
  })
  if (isKnown) return []
  const detail = `the store holds ${total} pages and blobs and the record of no vault; the records are lost`
  return [{ kind: 'record', id: 0, detail }]
}

/** How much there is to look at; none if the store is too damaged to be counted. */
async function countOf({ engine }: StoreHome): Promise<number> {
  try {
    const { pages, blobs } = await engine.usage()
    return pages.count + blobs.count
  } catch {
    return 0
  }
}

/** What was read, or why it could not be: an engine may lose one thing and still have the next. */
async function readable(
  read: () => Answer<Uint8Array | undefined>,
): Promise<Uint8Array | undefined | string> {
  try {
    return await read()
  } catch (error) {
    return `it cannot be read: ${messageOf(error)}`
  }
}

/** The node of a page, or what is wrong with it. */
async function readNode({ engine, codec }: StoreHome, id: number): Promise<Node<TreeValue> | string> {
  const page = await readable(() => engine.readPage(id))
  if (page === undefined) return 'it is missing'
  if (typeof page === 'string') return page
  try {
    return codec.decode(id, page)
  } catch (error) {
    if (isVfsError(error) || error instanceof RangeError) return error.message
    throw error
  }
}

function blobProblem(bytes: Uint8Array | undefined, { size, crc }: BlobRef): string | undefined {
  if (bytes === undefined) return 'it is missing'
  if (bytes.length !== size) return `it has ${bytes.length} bytes, not ${size}`
  return crc32(bytes) === crc ? undefined : 'its checksum does not match'
}
