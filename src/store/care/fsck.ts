import { isVfsError } from '../../vfs/index.ts'
import type { MaybePromise } from '../engine.ts'
import { getErrorMessage } from '../engines/engine-errors.ts'
import type { StoreHome } from '../store-home.ts'
import type { TreeNode } from '../tree/tree-node.ts'
import type { BlobRef, TreeValue } from '../tree/tree-values.ts'
import { isIntact } from '../vault/blob-store.ts'
import { deletionPrefix } from '../vault/deletion-record.ts'
import { uploadPrefix } from '../vault/upload.ts'
import { checkNames } from './check-names.ts'
import { describeBlobSegment, listOrphanedSegments, readBlobContent } from './check-segments.ts'
import type { Damage } from './damage.ts'
import { addDamagePlaces } from './damage-places.ts'
import { readRoots } from './gc-roots.ts'
import type { MaintenanceOptions } from './maintenance-progress.ts'
import { ReachabilityWalk } from './reachability-walk.ts'

/** Result of `fsck`: counts, and everything that is damaged. */
export interface FsckReport {
  /** Number of pages and blobs that were checked. */
  readonly checked: number
  readonly damaged: readonly Damage[]
  /** Files or objects with content that nothing uses, such as those of a killed writer. `gc` removes them. */
  readonly orphanedSegments: readonly string[]
}

/**
 * Reads every page and blob in use once and reports the damaged ones. If all pages are intact, checks that names and
 * files of each vault match.
 *
 * Holds the trees it reads, against a collection in another process. A collection may still remove a version that
 * only the journal named. So damage counts only if a second walk from new roots meets it again: no collection removes
 * what those lead to.
 */
export async function fsck(home: StoreHome, options: MaintenanceOptions = {}): Promise<FsckReport> {
  const broken = home.engine.findDamage?.() ?? []
  // Reading such a store through its engine could end the process.
  if (broken.length > 0) {
    const damaged = broken.map((detail) => ({ kind: 'store', id: 0, detail }) as const)
    return { checked: 0, damaged, orphanedSegments: [] }
  }
  const segments = (await home.engine.segments?.list()) ?? []
  await home.commitAndFlushAll()
  const first = await checkAll(home, options)
  const orphanedSegments = await listOrphanedSegments(home, segments)
  if (first.damaged.length === 0) return { ...first, orphanedSegments }
  const { checked, damaged } = await checkAll(home, options)
  const firstKeys = new Set(first.damaged.map(toDamageKey))
  const confirmed = damaged.filter((damage) => firstKeys.has(toDamageKey(damage)))
  return { checked, damaged: await addDamagePlaces(home, confirmed), orphanedSegments }
}

/** Returns a key that identifies the damaged object. */
function toDamageKey({ kind, id, places = [] }: Damage): string {
  return JSON.stringify([kind, id, places])
}

/** Result of one walk. */
type CheckResult = Pick<FsckReport, 'checked' | 'damaged'>

function checkAll(home: StoreHome, options: MaintenanceOptions): Promise<CheckResult> {
  return home.session.withHolds((hold) => checkWithHolds(home, hold, options))
}

async function checkWithHolds(
  home: StoreHome,
  hold: (root: number) => number,
  { onProgress, signal }: MaintenanceOptions,
): Promise<CheckResult> {
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
      const bytes = await tryRead(() => readBlobContent(home, ref.blob))
      const problem = typeof bytes === 'string' ? undefined : findBlobProblem(bytes, ref)
      const place = problem === undefined ? '' : await describeBlobSegment(home, ref.blob)
      const detail = typeof bytes === 'string' ? bytes : problem && `${problem}${place}`
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
    return await home.reader.run(() => checkNames(home.trees.getFilesAt(root)))
  } catch (error) {
    if (isVfsError(error, 'EIO')) return [error.message]
    throw error
  }
}

/**
 * Reports lost records in a store with pages or blobs and no vault, unless a deleted vault or an upload explains them.
 */
async function findLostRecords({ reader }: StoreHome, total: number): Promise<Damage[]> {
  const isExplained = await reader.run(() => {
    if (reader.readRecord('ids') === undefined) return false
    return [deletionPrefix, uploadPrefix].some((prefix) => reader.listRecords(prefix).length > 0)
  })
  if (isExplained) return []
  const detail = `the store holds ${total} pages and blobs and the record of no vault; the records are lost`
  return [{ kind: 'record', id: 0, detail }]
}

/** Counts the pages and blobs; 0 if the store is too damaged to count. */
async function countObjects({ engine }: StoreHome): Promise<number> {
  try {
    const { pages, blobs } = await engine.usage()
    return pages.count + blobs.count
  } catch {
    return 0
  }
}

/**
 * Reads an object, or returns why it failed: an engine may lose one object and still have the next. Throws if its server
 * cannot be reached, which says nothing about the object.
 */
async function tryRead(
  read: () => MaybePromise<Uint8Array | undefined>,
): Promise<Uint8Array | undefined | string> {
  try {
    return await read()
  } catch (error) {
    if (isVfsError(error, 'EUNAVAILABLE') || isVfsError(error, 'ETIMEDOUT')) throw error
    return `it cannot be read: ${getErrorMessage(error)}`
  }
}

/** Reads the node of a page, or returns its damage. */
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

function findBlobProblem(bytes: Uint8Array | undefined, ref: BlobRef): string | undefined {
  if (bytes === undefined) return 'it is missing'
  if (bytes.length !== ref.size) return `it has ${bytes.length} bytes, not ${ref.size}`
  return isIntact(ref, bytes) ? undefined : 'its checksum does not match'
}
