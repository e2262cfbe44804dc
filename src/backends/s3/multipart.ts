import { VfsError } from '../../vfs/index.ts'
import type { Call } from './call.ts'
import type { Connection } from './connection.ts'
import type { Condition } from './objects.ts'

const MAX_PARTS = 10_000
/** How many parts are on their way, and so in memory, at once. */
const AT_ONCE = 4

interface Upload {
  readonly connection: Connection
  readonly key: string
  readonly id: string | undefined
  readonly call: Call
}

interface SentPart {
  readonly PartNumber: number
  readonly ETag: string | undefined
  readonly ChecksumCRC32: string | undefined
}

/** Stores an object in parts, all or nothing: whatever fails, the parts that were sent are taken back. */
export async function sendInParts(
  connection: Connection,
  key: string,
  parts: AsyncIterable<Uint8Array>,
  condition: Condition,
  call: Call,
): Promise<void> {
  const upload = await begin(connection, key, call)
  try {
    await complete(upload, await sendParts(upload, parts), condition)
  } catch (error) {
    // What then goes wrong with the taking back says less than why it is needed.
    await abort(upload).catch(() => {})
    throw error
  }
}

async function begin(connection: Connection, key: string, call: Call): Promise<Upload> {
  const { UploadId: id } = await connection.ask(call, async ({ sdk, client, bucket, options }) => {
    // The SDK sums up each part unless told otherwise, and S3 refuses sums that were not announced.
    const isSummed = (await client.config.requestChecksumCalculation()) === 'WHEN_SUPPORTED'
    const sums = isSummed ? { ChecksumAlgorithm: sdk.ChecksumAlgorithm.CRC32 } : {}
    return client.send(new sdk.CreateMultipartUploadCommand({ Bucket: bucket, Key: key, ...sums }), options)
  })
  return { connection, key, id, call }
}

/** Ends only when no part is on its way any more: one that arrives after the upload was aborted would stay. */
async function sendParts(upload: Upload, parts: AsyncIterable<Uint8Array>): Promise<SentPart[]> {
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
      if (under.size >= AT_ONCE) await Promise.race(under)
    }
  } finally {
    await Promise.all(under)
  }
  if (failure !== undefined) throw failure.error
  return sent.sort((one, other) => one.PartNumber - other.PartNumber)
}

async function sendPart(
  { connection, key, id, call }: Upload,
  number: number,
  bytes: Uint8Array,
): Promise<SentPart> {
  const { ETag, ChecksumCRC32 } = await connection.ask(call, ({ sdk, client, bucket, options }) =>
    client.send(
      new sdk.UploadPartCommand({ Bucket: bucket, Key: key, UploadId: id, PartNumber: number, Body: bytes }),
      options,
    ),
  )
  return { PartNumber: number, ETag, ChecksumCRC32 }
}

async function complete(
  { connection, key, id, call }: Upload,
  parts: SentPart[],
  condition: Condition,
): Promise<void> {
  await connection.ask(call, ({ sdk, client, bucket, options }) =>
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
async function abort({ connection, key, id, call }: Upload): Promise<void> {
  await connection.ask({ ...call, signal: undefined }, ({ sdk, client, bucket }) =>
    client.send(new sdk.AbortMultipartUploadCommand({ Bucket: bucket, Key: key, UploadId: id })),
  )
}

function assertCount({ op, path }: Call, number: number): void {
  if (number <= MAX_PARTS) return
  const detail = `S3 takes ${MAX_PARTS} parts at most; open the file system with a larger partSize`
  throw new VfsError('EFBIG', path, { op, detail })
}
