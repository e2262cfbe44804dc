import { isWithin, type Stat, VfsError } from '../../vfs/index.ts'
import type { Call } from './call.ts'
import type { Connection } from './connection.ts'
import type { Keys } from './keys.ts'
import { copyObject, deleteObjects, inParallel } from './objects.ts'
import { keyPages } from './pages.ts'
import type { S3Tree } from './s3-tree.ts'

/** What S3 copies in one request. */
const MAX_COPY_BYTES = 5 * 1024 ** 3
const BATCH = 1000

/** Where a move takes place. */
interface Place {
  readonly connection: Connection
  readonly keys: Keys
  readonly tree: S3Tree
}

/** One object of a move: where it is and where it goes. */
interface Step {
  readonly from: string
  readonly to: string
}

/**
 * Moves a file or a tree by copies within the bucket. Both are there until all is copied, a copy that fails is taken
 * back, and the originals go last. ENOENT, EINVAL, EEXIST, EISDIR, ENOTDIR, ENOTEMPTY; ENOTSUP for a file over 5 GiB.
 */
export async function rename(place: Place, to: string, overwrite: boolean, call: Call): Promise<void> {
  const { tree, connection } = place
  const from = call.path
  const source = await tree.find(from, call)
  if (source === undefined) throw new VfsError('ENOENT', from, { op: call.op })
  if (from === to) return
  if (isWithin(to, from))
    throw new VfsError('EINVAL', from, { op: call.op, detail: `'${to}' lies inside it` })
  const target = await tree.find(to, call)
  if (target !== undefined) await assertReplaceable(place, source, to, target, overwrite, call)
  await tree.assertDirectoriesAbove(to, call)
  const steps = source.type === 'file' ? [stepOf(place, to, source, call)] : await stepsOf(place, to, call)
  await copyAll(connection, steps, target, call)
  await deleteAll(
    connection,
    steps.map((step) => step.from),
    call,
  )
}

async function assertReplaceable(
  { connection, keys }: Place,
  source: Stat,
  to: string,
  target: Stat,
  overwrite: boolean,
  call: Call,
): Promise<void> {
  const refuse = (code: 'EEXIST' | 'EISDIR' | 'ENOTDIR' | 'ENOTEMPTY') =>
    new VfsError(code, to, { op: call.op })
  if (!overwrite) throw refuse('EEXIST')
  if (source.type === 'file' && target.type === 'directory') throw refuse('EISDIR')
  if (source.type === 'directory' && target.type === 'file') throw refuse('ENOTDIR')
  if (target.type === 'file') return
  const marker = keys.below(to)
  for await (const page of keyPages(connection, marker, { limit: 2 }, call)) {
    if (page.some(({ key }) => key !== marker)) throw refuse('ENOTEMPTY')
  }
}

function stepOf({ keys }: Place, to: string, source: Stat, call: Call): Step {
  const step = { from: keys.of(call.path), to: keys.storable({ ...call, path: to }) }
  assertCopyable(step.from, source, call)
  return step
}

/** All keys below a directory, before the first is copied: a tree that cannot be moved whole is not begun. */
async function stepsOf({ connection, keys }: Place, to: string, call: Call): Promise<Step[]> {
  const [old, fresh] = [keys.below(call.path), keys.below(to)]
  const steps: Step[] = []
  for await (const page of keyPages(connection, old, {}, call)) {
    for (const { key, stat } of page) {
      assertCopyable(key, stat, call)
      steps.push({ from: key, to: fresh + key.slice(old.length) })
    }
  }
  return steps
}

function assertCopyable(key: string, { size }: Stat, { op, path }: Call): void {
  if (size <= MAX_COPY_BYTES) return
  const detail = `'${key}' has over 5 GiB, which S3 does not copy in one request; write it anew and remove the old one`
  throw new VfsError('ENOTSUP', path, { op, detail })
}

async function copyAll(
  connection: Connection,
  steps: readonly Step[],
  target: Stat | undefined,
  call: Call,
): Promise<void> {
  const copied: string[] = []
  try {
    await inParallel(steps, async ({ from, to }) => {
      await copyObject(connection, from, to, call)
      copied.push(to)
    })
  } catch (error) {
    // A file that was replaced stays replaced: its one copy is all there was to do.
    if (target?.type !== 'file')
      await deleteAll(connection, copied, { ...call, signal: undefined }).catch(() => {})
    throw error
  }
}

async function deleteAll(connection: Connection, keys: readonly string[], call: Call): Promise<void> {
  for (let at = 0; at < keys.length; at += BATCH) {
    await deleteObjects(connection, keys.slice(at, at + BATCH), call)
  }
}
