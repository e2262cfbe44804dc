import { VfsError } from '../../vfs/index.ts'
import type { WriteCondition } from './objects.ts'
import type { S3Call } from './s3-call.ts'
import type { S3Connection } from './s3-connection.ts'

const MAX_PARTS = 10_000
/** Number of parts that are uploaded, and held in memory, at once. */
const MAX_CONCURRENT_PARTS = 4

interface MultipartUpload {
  readonly connection: S3Connection
  readonly key: string
  readonly id: string | undefined
  readonly call: S3Call
}

interface SentPart {
  readonly PartNumber: number
  readonly ETag: string | undefined
  readonly ChecksumCRC32: string | undefined
}

/** Stores an object in parts, atomically: after a failure the upload is aborted. */
export async function sendInParts(
  connection: S3Connection,
  key: string,
  parts: AsyncIterable<Uint8Array>,
  condition: WriteCondition,
  call: S3Call,
): Promise<void> {
  const upload = await beginUpload(connection, key, call)
  try {
    await completeUpload(upload, await sendParts(upload, parts), condition)
  } catch (error) {
    // The original error matters more than a failed abort.
    await abortUpload(upload).catch(() => {})
    throw error
  }
}

async function beginUpload(connection: S3Connection, key: string, call: S3Call): Promise<MultipartUpload> {
  const { UploadId: id } = await connection.send(call, async ({ sdk, client, bucket, options }) => {
    // The SDK sends a checksum with each part by default, and S3 rejects checksums that were not announced.
    const hasChecksums = (await client.config.requestChecksumCalculation()) === 'WHEN_SUPPORTED'
    const checksums = hasChecksums ? { ChecksumAlgorithm: sdk.ChecksumAlgorithm.CRC32 } : {}
    return client.send(
      new sdk.CreateMultipartUploadCommand({ Bucket: bucket, Key: key, ...checksums }),
      options,
    )
  })
  return { connection, key, id, call }
}

/** Sends the parts, several at once. Settles only when none is being sent: one that arrives after an abort would stay. */
async function sendParts(upload: MultipartUpload, parts: AsyncIterable<Uint8Array>): Promise<SentPart[]> {
  const sent: SentPart[] = []
  const uploads = new Set<Promise<void>>()
  let failure: { readonly error: unknown } | undefined
  const send = async (number: number, bytes: Uint8Array) => {
    try {
      sent.push(await sendPart(upload, number, bytes))
    } catch (error) {
      failure ??= { error }
    }
  }
  let number = 0
  try {
    for await (const bytes of parts) {
      if (failure !== undefined) break
      assertCount(upload.call, ++number)
      const sending: Promise<void> = send(number, bytes).finally(() => uploads.delete(sending))
      uploads.add(sending)
      if (uploads.size >= MAX_CONCURRENT_PARTS) await Promise.race(uploads)
    }
  } finally {
    await Promise.all(uploads)
  }
  if (failure !== undefined) throw failure.error
  return sent.sort((one, other) => one.PartNumber - other.PartNumber)
}

async function sendPart(
  { connection, key, id, call }: MultipartUpload,
  number: number,
  bytes: Uint8Array,
): Promise<SentPart> {
  const { ETag, ChecksumCRC32 } = await connection.send(call, ({ sdk, client, bucket, options }) =>
    client.send(
      new sdk.UploadPartCommand({ Bucket: bucket, Key: key, UploadId: id, PartNumber: number, Body: bytes }),
      options,
    ),
  )
  return { PartNumber: number, ETag, ChecksumCRC32 }
}

async function completeUpload(
  { connection, key, id, call }: MultipartUpload,
  parts: SentPart[],
  condition: WriteCondition,
): Promise<void> {
  await connection.send(call, ({ sdk, client, bucket, options }) =>
    client.send(
      new sdk.CompleteMultipartUploadCommand({
        Bucket: bucket,
        Key: key,
        UploadId: id,
        MultipartUpload: { Parts: parts },
        ...condition,
      }),
      options,
    ),
  )
}

/** Aborts an upload. Without the signal: a cancelled write must still be aborted on the server. */
async function abortUpload({ connection, key, id, call }: MultipartUpload): Promise<void> {
  await connection.send({ ...call, signal: undefined }, ({ sdk, client, bucket }) =>
    client.send(new sdk.AbortMultipartUploadCommand({ Bucket: bucket, Key: key, UploadId: id })),
  )
}

function assertCount({ op, path }: S3Call, number: number): void {
  if (number <= MAX_PARTS) return
  const detail = `the file has more than ${MAX_PARTS} parts, the limit of S3; open the file system with a larger partSize`
  throw new VfsError('EFBIG', path, { op, detail })
}
