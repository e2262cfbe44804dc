import { VfsError } from '../../vfs/index.ts'
import type { WriteCondition } from './objects.ts'
import type { S3Call } from './s3-call.ts'
import type { S3Connection } from './s3-connection.ts'

const MAX_PARTS = 10_000
/** How many parts are on their way, and so in memory, at once. */
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

/** Stores an object in parts, all or nothing: whatever fails, the parts that were sent are taken back. */
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
    // What then goes wrong with the taking back says less than why it is needed.
    await abortUpload(upload).catch(() => {})
    throw error
  }
}

async function beginUpload(connection: S3Connection, key: string, call: S3Call): Promise<MultipartUpload> {
  const { UploadId: id } = await connection.send(call, async ({ sdk, client, bucket, options }) => {
    // The SDK sums up each part unless told otherwise, and S3 refuses sums that were not announced.
    const isSummed = (await client.config.requestChecksumCalculation()) === 'WHEN_SUPPORTED'
    const sums = isSummed ? { ChecksumAlgorithm: sdk.ChecksumAlgorithm.CRC32 } : {}
    return client.send(new sdk.CreateMultipartUploadCommand({ Bucket: bucket, Key: key, ...sums }), options)
  })
  return { connection, key, id, call }
}

/** Ends only when no part is on its way any more: one that arrives after the upload was aborted would stay. */
async function sendParts(upload: MultipartUpload, parts: AsyncIterable<Uint8Array>): Promise<SentPart[]> {
  const sent: SentPart[] = []
  const under = new Set<Promise<void>>()
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
      const sending: Promise<void> = send(number, bytes).finally(() => under.delete(sending))
      under.add(sending)
      if (under.size >= MAX_CONCURRENT_PARTS) await Promise.race(under)
    }
  } finally {
    await Promise.all(under)
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

/** Not cancelled with the rest: a cancelled write has parts to take back. */
async function abortUpload({ connection, key, id, call }: MultipartUpload): Promise<void> {
  await connection.send({ ...call, signal: undefined }, ({ sdk, client, bucket }) =>
    client.send(new sdk.AbortMultipartUploadCommand({ Bucket: bucket, Key: key, UploadId: id })),
  )
}

function assertCount({ op, path }: S3Call, number: number): void {
  if (number <= MAX_PARTS) return
  const detail = `S3 takes ${MAX_PARTS} parts at most; open the file system with a larger partSize`
  throw new VfsError('EFBIG', path, { op, detail })
}
