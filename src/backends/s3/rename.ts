import { isWithin, type Stat, VfsError } from '../../vfs/index.ts'
import type { KeyMapping } from './key-mapping.ts'
import { listKeyPages } from './list-key-pages.ts'
import { copyObject, deleteObjects, runInParallel } from './objects.ts'
import type { S3Call } from './s3-call.ts'
import type { S3Connection } from './s3-connection.ts'
import type { S3Tree } from './s3-tree.ts'

/** Limit of S3 for a copy in one request. */
const MAX_COPY_BYTES = 5 * 1024 ** 3
const DELETES_PER_BATCH = 1000

/** The bucket of a rename. */
interface RenameSource {
  readonly connection: S3Connection
  readonly keys: KeyMapping
  readonly tree: S3Tree
}

/** One object to move: its old and its new key. */
interface CopyStep {
  readonly from: string
  readonly to: string
}

/**
 * Moves a file or a tree by copies within the bucket. The originals are removed after everything is copied; after a
 * failure the copies are removed, except one that replaced a file. ENOENT, EINVAL, EEXIST, EISDIR, ENOTDIR, ENOTEMPTY; ENOTSUP for a file over 5 GiB.
 */
export async function rename(
  bucket: RenameSource,
  to: string,
  overwrite: boolean,
  call: S3Call,
): Promise<void> {
  const { tree, connection } = bucket
  const from = call.path
  const source = await tree.find(from, call)
  if (source === undefined) throw new VfsError('ENOENT', from, { op: call.op })
  if (from === to) return
  if (isWithin(to, from))
    throw new VfsError('EINVAL', from, { op: call.op, detail: `'${to}' lies inside it` })
  const target = await tree.find(to, call)
  if (target !== undefined) await assertReplaceable(bucket, source, to, target, overwrite, call)
  await tree.assertDirectoriesAbove(to, call)
  const steps =
    source.type === 'file' ? [createStep(bucket, to, source, call)] : await listSteps(bucket, to, call)
  await copyAll(connection, steps, target, call)
  await deleteAll(
    connection,
    steps.map((step) => step.from),
    call,
  )
}

async function assertReplaceable(
  { connection, keys }: RenameSource,
  source: Stat,
  to: string,
  target: Stat,
  overwrite: boolean,
  call: S3Call,
): Promise<void> {
  const createError = (code: 'EEXIST' | 'EISDIR' | 'ENOTDIR' | 'ENOTEMPTY') =>
    new VfsError(code, to, { op: call.op })
  if (!overwrite) throw createError('EEXIST')
  if (source.type === 'file' && target.type === 'directory') throw createError('EISDIR')
  if (source.type === 'directory' && target.type === 'file') throw createError('ENOTDIR')
  if (target.type === 'file') return
  const marker = keys.toPrefix(to)
  for await (const page of listKeyPages(connection, marker, { limit: 2 }, call)) {
    if (page.some(({ key }) => key !== marker)) throw createError('ENOTEMPTY')
  }
}

function createStep({ keys }: RenameSource, to: string, source: Stat, call: S3Call): CopyStep {
  const step = { from: keys.toKey(call.path), to: keys.toStorableKey({ ...call, path: to }) }
  assertCopyable(step.from, source, call)
  return step
}

/** Lists all keys below a directory before the first copy, so that a tree that cannot be moved whole is not started. */
async function listSteps({ connection, keys }: RenameSource, to: string, call: S3Call): Promise<CopyStep[]> {
  const [old, newPrefix] = [keys.toPrefix(call.path), keys.toPrefix(to)]
  const steps: CopyStep[] = []
  for await (const page of listKeyPages(connection, old, {}, call)) {
    for (const { key, stat } of page) {
      assertCopyable(key, stat, call)
      steps.push({ from: key, to: newPrefix + key.slice(old.length) })
    }
  }
  return steps
}

function assertCopyable(key: string, { size }: Stat, { op, path }: S3Call): void {
  if (size <= MAX_COPY_BYTES) return
  const detail = `'${key}' has over 5 GiB, which S3 cannot copy in one request; write the file again and remove the old one`
  throw new VfsError('ENOTSUP', path, { op, detail })
}

async function copyAll(
  connection: S3Connection,
  steps: readonly CopyStep[],
  target: Stat | undefined,
  call: S3Call,
): Promise<void> {
  const copied: string[] = []
  try {
    await runInParallel(steps, async ({ from, to }) => {
      await copyObject(connection, from, to, call)
      copied.push(to)
    })
  } catch (error) {
    // A replaced file stays replaced: it was the only copy.
    if (target?.type !== 'file')
      await deleteAll(connection, copied, { ...call, signal: undefined }).catch(() => {})
    throw error
  }
}

async function deleteAll(connection: S3Connection, keys: readonly string[], call: S3Call): Promise<void> {
  for (let start = 0; start < keys.length; start += DELETES_PER_BATCH) {
    await deleteObjects(connection, keys.slice(start, start + DELETES_PER_BATCH), call)
  }
}
