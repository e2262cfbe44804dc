import { Readable } from 'node:stream'
import { isVfsError, type Stat, VfsError } from '../../vfs/index.ts'
import { createFileStat } from './list-key-pages.ts'
import type { S3Call } from './s3-call.ts'
import type { S3Connection } from './s3-connection.ts'
import { getStatus, toVfsError } from './s3-errors.ts'

const RANGE_NOT_SATISFIABLE = 416
/** Statuses of servers without the batch delete. */
const BATCH_UNSUPPORTED_STATUSES: readonly (number | undefined)[] = [400, 405, 501]
const MAX_CONCURRENT_REQUESTS = 16

/** The condition of a write: the key is missing, or has this ETag. */
export type WriteCondition =
  | { readonly IfNoneMatch: '*' }
  | { readonly IfMatch: string }
  | Record<never, never>

/** An object's ETag and content. Later writes do not change the content. */
export interface FetchedObject {
  readonly etag: string
  readonly bytes: AsyncIterable<Uint8Array>
}

/** Returns the stat and ETag of a key, or undefined if it is missing. */
export async function headObject(
  connection: S3Connection,
  key: string,
  call: S3Call,
): Promise<{ stat: Stat; etag: string } | undefined> {
  try {
    const { ContentLength, LastModified, ETag } = await connection.send(
      call,
      ({ sdk, client, bucket, options }) =>
        client.send(new sdk.HeadObjectCommand({ Bucket: bucket, Key: key }), options),
    )
    return { stat: createFileStat(ContentLength, LastModified), etag: unquoteEtag(ETag) }
  } catch (error) {
    if (isVfsError(error, 'ENOENT')) return undefined
    throw error
  }
}

/**
 * Fetches bytes of an object from a position; none behind its end. Undefined if it is missing. `length` is above 0 and may
 * be Infinity.
 */
export async function getObject(
  connection: S3Connection,
  key: string,
  [start, length]: readonly [number, number],
  call: S3Call,
): Promise<FetchedObject | undefined> {
  const last = length === Number.POSITIVE_INFINITY ? '' : start + length - 1
  const range = start === 0 && last === '' ? undefined : `bytes=${start}-${last}`
  try {
    const { Body, ETag } = await connection.send(call, ({ sdk, client, bucket, options }) =>
      client.send(new sdk.GetObjectCommand({ Bucket: bucket, Key: key, Range: range }), options),
    )
    return { etag: unquoteEtag(ETag), bytes: readBody(Body, call, connection.bucket) }
  } catch (error) {
    if (isVfsError(error, 'ENOENT')) return undefined
    if (isVfsError(error) && getStatus(error.cause) === RANGE_NOT_SATISFIABLE)
      return { etag: '', bytes: emptyBody() }
    throw error
  }
}

export async function putObject(
  connection: S3Connection,
  key: string,
  bytes: Uint8Array,
  condition: WriteCondition,
  call: S3Call,
): Promise<void> {
  await connection.send(call, ({ sdk, client, bucket, options }) =>
    client.send(new sdk.PutObjectCommand({ Bucket: bucket, Key: key, Body: bytes, ...condition }), options),
  )
}

/** Copies an object on the server. */
export async function copyObject(
  connection: S3Connection,
  from: string,
  to: string,
  call: S3Call,
): Promise<void> {
  await connection.send(call, ({ sdk, client, bucket, options }) => {
    const source = `${bucket}/${from.split('/').map(encodeURIComponent).join('/')}`
    return client.send(new sdk.CopyObjectCommand({ Bucket: bucket, Key: to, CopySource: source }), options)
  })
}

export async function deleteObject(connection: S3Connection, key: string, call: S3Call): Promise<void> {
  await connection.send(call, ({ sdk, client, bucket, options }) =>
    client.send(new sdk.DeleteObjectCommand({ Bucket: bucket, Key: key }), options),
  )
}

/** Removes up to 1,000 keys, in one request if the server supports it. */
export async function deleteObjects(
  connection: S3Connection,
  keys: readonly string[],
  call: S3Call,
): Promise<void> {
  try {
    const { Errors = [] } = await connection.send(call, ({ sdk, client, bucket, options }) =>
      client.send(
        new sdk.DeleteObjectsCommand({
          Bucket: bucket,
          Delete: { Objects: keys.map((Key) => ({ Key })), Quiet: true },
        }),
        options,
      ),
    )
    const [firstError] = Errors
    if (firstError === undefined) return
    const detail = `S3 did not remove the key '${firstError.Key}': ${firstError.Code} ${firstError.Message ?? ''}`
    throw new VfsError(firstError.Code === 'AccessDenied' ? 'EACCES' : 'EIO', call.path, {
      op: call.op,
      detail,
    })
  } catch (error) {
    if (!isVfsError(error) || !BATCH_UNSUPPORTED_STATUSES.includes(getStatus(error.cause))) throw error
    await runInParallel(keys, (key) => deleteObject(connection, key, call))
  }
}

/** Runs work for each item, several at once. Settles when none is running. */
export async function runInParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = items.values()
  const worker = async () => {
    for (const item of waiting) await work(item)
  }
  const outcomes = await Promise.allSettled(Array.from({ length: MAX_CONCURRENT_REQUESTS }, worker))
  const failed = outcomes.find((outcome) => outcome.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

async function* readBody(body: unknown, call: S3Call, bucket: string): AsyncGenerator<Uint8Array> {
  if (!(body instanceof Readable)) return
  const stop = () => body.destroy()
  call.signal?.addEventListener('abort', stop)
  try {
    for await (const chunk of body) yield chunk
    call.signal?.throwIfAborted()
  } catch (error) {
    throw toVfsError(error, call, bucket)
  } finally {
    call.signal?.removeEventListener('abort', stop)
    body.destroy()
  }
}

async function* emptyBody(): AsyncGenerator<Uint8Array> {}

/** Removes the quotes: some servers compare ETags without them, and all accept them so. */
function unquoteEtag(etag = ''): string {
  return etag.replace(/^"(.*)"$/, '$1')
}
