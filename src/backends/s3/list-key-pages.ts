import type { ListObjectsV2CommandOutput } from '@aws-sdk/client-s3'
import { type Stat, VfsError } from '../../vfs/index.ts'
import type { S3Call } from './s3-call.ts'
import type { S3Connection } from './s3-connection.ts'

const EPOCH = new Date(0)
const MAX_EMPTY_PAGES = 100

/** Stat of a directory, which is only a prefix of keys and has no attributes. */
export const DIRECTORY_STAT: Stat = { type: 'directory', size: 0, mtime: EPOCH, mode: null }

/** A key, or with a delimiter what several keys begin with; that ends with a slash and is a directory. */
export interface ListedKey {
  readonly key: string
  readonly stat: Stat
}

export interface PageOptions {
  /** Groups the keys beyond the next slash into their directory. */
  readonly shallow?: boolean
  /** How many keys a page holds at most. */
  readonly limit?: number
}

/**
 * All keys that begin with a prefix, in the order of their bytes, a page at a time. No page is empty.
 * EIO for a server whose listing leads nowhere: pages that begin again, or are empty without end, or other keys than
 * were asked for.
 */
export async function* listKeyPages(
  connection: S3Connection,
  prefix: string,
  { shallow = false, limit }: PageOptions,
  call: S3Call,
): AsyncGenerator<readonly ListedKey[]> {
  const progress = new ListingProgress(prefix, call)
  let token: string | undefined
  do {
    const answer = await connection.send(call, ({ sdk, client, bucket, options }) =>
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
    const page = parsePage(answer, call)
    progress.check(page, answer, token)
    if (page.length > 0) yield page
    token = answer.IsTruncated ? answer.NextContinuationToken : undefined
  } while (token !== undefined)
}

/** Sees that a listing comes to an end some day. */
class ListingProgress {
  readonly #prefix: string
  readonly #call: S3Call
  #last: Buffer | undefined
  #emptyPages = 0

  constructor(prefix: string, call: S3Call) {
    this.#prefix = prefix
    this.#call = call
  }

  check(
    page: readonly ListedKey[],
    { IsTruncated, NextContinuationToken }: ListObjectsV2CommandOutput,
    token: string | undefined,
  ): void {
    const stray = page.find(({ key }) => !key.startsWith(this.#prefix))
    if (stray !== undefined) throw createListingError(this.#call, 'it lists keys that were not asked for')
    if (IsTruncated && (NextContinuationToken ?? '') === '') {
      throw createListingError(this.#call, 'it has more keys and does not say how to ask for them')
    }
    if (IsTruncated && NextContinuationToken === token) {
      throw createListingError(this.#call, 'its listing begins the same page again')
    }
    this.#emptyPages = page.length === 0 ? this.#emptyPages + 1 : 0
    if (this.#emptyPages > MAX_EMPTY_PAGES) {
      throw createListingError(
        this.#call,
        `its listing has more than ${MAX_EMPTY_PAGES} empty pages in a row`,
      )
    }
    this.#advance(page)
  }

  /** Checks that keys follow those of the page before; a directory may occur once more. */
  #advance(page: readonly ListedKey[]): void {
    const last = page.at(-1)
    if (last === undefined) return
    const key = Buffer.from(last.key)
    const order = this.#last === undefined ? 1 : Buffer.compare(key, this.#last)
    if (order < 0 || (order === 0 && page.length > 1)) {
      throw createListingError(this.#call, 'its listing goes back to keys it had before')
    }
    this.#last = key
  }
}

function createListingError({ op, path }: S3Call, what: string): VfsError {
  const detail = `the S3 server does not answer as S3 does: ${what}; check the endpoint`
  return new VfsError('EIO', path, { op, detail })
}

/** Whether a key begins with a prefix. */
export async function hasKeys(connection: S3Connection, prefix: string, call: S3Call): Promise<boolean> {
  for await (const _ of listKeyPages(connection, prefix, { limit: 1 }, call)) return true
  return false
}

/** What is known of a stored object, as a stat. */
export function createFileStat(size = 0, modified: Date = EPOCH): Stat {
  // Only a listing may know the milliseconds, and it must agree with what is asked of the object itself.
  const mtime = new Date(Math.floor(modified.getTime() / 1000) * 1000)
  return { type: 'file', size, mtime, mode: null }
}

function parsePage(
  { Contents = [], CommonPrefixes = [], EncodingType }: ListObjectsV2CommandOutput,
  call: S3Call,
): ListedKey[] {
  const decodeText = (text = '') => decodeKey(text, EncodingType === 'url', call)
  const files = Contents.map(({ Key, Size, LastModified }) => ({
    key: decodeText(Key),
    stat: createFileStat(Size, LastModified),
  }))
  if (CommonPrefixes.length === 0) return files
  const directories = CommonPrefixes.map(({ Prefix }) => ({ key: decodeText(Prefix), stat: DIRECTORY_STAT }))
  return [...files, ...directories].sort((one, other) => compareBytes(one.key, other.key))
}

function compareBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other))
}

function decodeKey(text: string, isEncoded: boolean, call: S3Call): string {
  // A copy: what the parser gives is a view of the whole answer, which whoever keeps a name would keep as well.
  const own = Buffer.from(text).toString()
  if (!isEncoded) return own
  try {
    return decodeURIComponent(own.replaceAll('+', ' '))
  } catch {
    throw createListingError(call, 'it lists keys that are not encoded as it says')
  }
}
