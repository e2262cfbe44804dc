import type { ListObjectsV2CommandOutput } from '@aws-sdk/client-s3'
import type { Stat } from '../../vfs/index.ts'
import type { Call } from './call.ts'
import type { Connection } from './connection.ts'

const BEGINNING = new Date(0)

/** Directories are nothing but the beginning of keys, so there is nothing to tell of them. */
export const DIRECTORY: Stat = { type: 'directory', size: 0, mtime: BEGINNING, mode: null }

/** A key, or with a delimiter what several keys begin with; that ends with a slash and is a directory. */
export interface Found {
  readonly key: string
  readonly stat: Stat
}

export interface PageOptions {
  /** Keys beyond the next slash are told as the directory they are in. */
  readonly shallow?: boolean
  /** How many keys a page holds at most. */
  readonly limit?: number
}

/** All keys that begin with a prefix, in the order of their bytes, a page at a time. No page is empty. */
export async function* keyPages(
  connection: Connection,
  prefix: string,
  { shallow = false, limit }: PageOptions,
  call: Call,
): AsyncGenerator<readonly Found[]> {
  let token: string | undefined
  do {
    const answer = await connection.ask(call, ({ sdk, client, bucket, options }) =>
      client.send(
        new sdk.ListObjectsV2Command({
          Bucket: bucket,
          Prefix: prefix,
          // XML cannot hold every character a key can.
          EncodingType: 'url',
          Delimiter: shallow ? '/' : undefined,
          MaxKeys: limit,
          ContinuationToken: token,
        }),
        options,
      ),
    )
    const page = foundIn(answer)
    if (page.length > 0) yield page
    token = answer.IsTruncated ? answer.NextContinuationToken : undefined
  } while (token !== undefined)
}

/** Whether a key begins with a prefix. */
export async function hasKeys(connection: Connection, prefix: string, call: Call): Promise<boolean> {
  for await (const _ of keyPages(connection, prefix, { limit: 1 }, call)) return true
  return false
}

/** What is known of a stored object, as a stat. */
export function fileStat(size = 0, modified: Date = BEGINNING): Stat {
  // Only a listing may know the milliseconds, and it must agree with what is asked of the object itself.
  const mtime = new Date(Math.floor(modified.getTime() / 1000) * 1000)
  return { type: 'file', size, mtime, mode: null }
}

function foundIn({ Contents = [], CommonPrefixes = [], EncodingType }: ListObjectsV2CommandOutput): Found[] {
  const decoded = (text = '') => keyIn(text, EncodingType === 'url')
  const files = Contents.map(({ Key, Size, LastModified }) => ({
    key: decoded(Key),
    stat: fileStat(Size, LastModified),
  }))
  if (CommonPrefixes.length === 0) return files
  const directories = CommonPrefixes.map(({ Prefix }) => ({ key: decoded(Prefix), stat: DIRECTORY }))
  return [...files, ...directories].sort((one, other) => byBytes(one.key, other.key))
}

function byBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other))
}

function keyIn(text: string, isEncoded: boolean): string {
  // A copy: what the parser gives is a view of the whole answer, which whoever keeps a name would keep as well.
  const own = Buffer.from(text).toString()
  return isEncoded ? decodeURIComponent(own.replaceAll('+', ' ')) : own
}
