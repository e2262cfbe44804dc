import { crc32 } from 'node:zlib'
import { isVfsError } from '../../vfs/index.ts'
import type { MaybePromise } from '../engine.ts'
import { getErrorMessage } from '../engines/engine-errors.ts'
import type { StoreHome } from '../store-home.ts'
import type { TreeNode } from '../tree/tree-node.ts'
import type { BlobRef, TreeValue } from '../tree/tree-values.ts'
import { uploadPrefix } from '../vault/upload.ts'
import { checkNames } from './check-names.ts'
import type { Damage } from './damage.ts'
import { addDamagePlaces } from './damage-places.ts'
import { readRoots } from './gc-roots.ts'
import type { MaintenanceOptions } from './maintenance-progress.ts'
import { ReachabilityWalk } from './reachability-walk.ts'

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
export async function fsck(home: StoreHome, options: MaintenanceOptions = {}): Promise<FsckReport> {
  const broken = home.engine.findDamage?.() ?? []
  // To read such a store through its engine could end the process.
  if (broken.length > 0) {
    return { checked: 0, damaged: broken.map((detail) => ({ kind: 'store', id: 0, detail })) }
  }
  await home.commitAndFlushAll()
  const first = await checkAll(home, options)
  if (first.damaged.length === 0) return first
  const { checked, damaged } = await checkAll(home, options)
  const known = new Set(first.damaged.map(toDamageKey))
  const confirmed = damaged.filter((damage) => known.has(toDamageKey(damage)))
  return { checked, damaged: await addDamagePlaces(home, confirmed) }
}

/** The damaged object, whatever is said of it. */
function toDamageKey({ kind, id, places = [] }: Damage): string {
  return JSON.stringify([kind, id, places])
}

function checkAll(home: StoreHome, options: MaintenanceOptions): Promise<FsckReport> {
  return home.withHolds((hold) => checkWithHolds(home, hold, options))
}

async function checkWithHolds(
  home: StoreHome,
  hold: (root: number) => number,
  { onProgress, signal }: MaintenanceOptions,
): Promise<FsckReport> {
  const damaged: Damage[] = []
  const total = await countObjects(home)
  const report = (damage: Damage) => damaged.push(damage)
  const reach = new ReachabilityWalk(home, {
    damage: report,
    hold,
    page: async (id) => {
      const node = await readNode(home, id)
      if (typeof node !== 'string') return node
      damaged.push({ kind: 'page', id, detail: node })
      return undefined
    },
    blob: async (ref) => {
      const bytes = await tryRead(() => home.engine.readBlob(ref.blob))
      const detail = typeof bytes === 'string' ? bytes : findBlobProblem(bytes, ref)
      if (detail !== undefined) damaged.push({ kind: 'blob', id: ref.blob, detail })
    },
    pause: () => {
      signal?.throwIfAborted()
      const done = reach.pages.size + reach.blobs.size
      onProgress?.({ phase: 'checking', done, total: Math.max(total, done) })
    },
  })
  const roots = await readRoots(home, report)
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
    return await home.reader.run(() => checkNames(home.getFilesAt(root)))
  } catch (error) {
    if (isVfsError(error, 'EIO')) return [error.message]
    throw error
  }
}

/** Reports lost records where pages and blobs are left of no vault that was deleted and of no stream. */
async function findLostRecords({ reader }: StoreHome, total: number): Promise<Damage[]> {
  const isKnown = await reader.run(() => {
    if (reader.readRecord('ids') === undefined) return false
    return ['deleted/', uploadPrefix].some((prefix) => reader.listRecords(prefix).length > 0)
  })
  if (isKnown) return []
  const detail = `the store holds ${total} pages and blobs and the record of no vault; the records are lost`
  return [{ kind: 'record', id: 0, detail }]
}

/** How much there is to look at; none if the store is too damaged to be counted. */
async function countObjects({ engine }: StoreHome): Promise<number> {
  try {
    const { pages, blobs } = await engine.usage()
    return pages.count + blobs.count
  } catch {
    return 0
  }
}

/** What was read, or why it could not be: an engine may lose one thing and still have the next. */
async function tryRead(
  read: () => MaybePromise<Uint8Array | undefined>,
): Promise<Uint8Array | undefined | string> {
  try {
    return await read()
  } catch (error) {
    return `it cannot be read: ${getErrorMessage(error)}`
  }
}

/** The node of a page, or what is wrong with it. */
async function readNode({ engine, codec }: StoreHome, id: number): Promise<TreeNode<TreeValue> | string> {
  const page = await tryRead(() => engine.readPage(id))
  if (page === undefined) return 'it is missing'
  if (typeof page === 'string') return page
  try {
    return codec.decode(id, page)
  } catch (error) {
    if (isVfsError(error) || error instanceof RangeError) return error.message
    throw error
  }
}

function findBlobProblem(bytes: Uint8Array | undefined, { size, crc }: BlobRef): string | undefined {
  if (bytes === undefined) return 'it is missing'
  if (bytes.length !== size) return `it has ${bytes.length} bytes, not ${size}`
  return crc32(bytes) === crc ? undefined : 'its checksum does not match'
}
