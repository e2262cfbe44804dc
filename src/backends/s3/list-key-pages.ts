import type { ListObjectsV2CommandOutput } from '@aws-sdk/client-s3'
import { type Stat, VfsError } from '../../vfs/index.ts'
import type { S3Call } from './s3-call.ts'
import type { S3Connection } from './s3-connection.ts'

const EPOCH = new Date(0)
/** Limit of empty pages in a row. */
const MAX_EMPTY_PAGES = 100

/** Stat of a directory, which is only a prefix of keys and has no attributes. */
export const DIRECTORY_STAT: Stat = { type: 'directory', size: 0, mtime: EPOCH, mode: null }

/** A key, or with a delimiter a common prefix, which ends with a slash and is a directory. */
export interface ListedKey {
  readonly key: string
  readonly stat: Stat
}

export interface PageOptions {
  /** Group the keys below a subdirectory into one entry. */
  readonly shallow?: boolean
  /** Maximum number of keys per page. */
  readonly limit?: number
}

/**
 * Yields the keys with a prefix in byte order, a page at a time. No page is empty. Throws EIO for a server whose
 * listing never ends: it repeats pages, sends endless empty ones, or keys with another prefix.
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
    const response = await connection.send(call, ({ sdk, client, bucket, options }) =>
      client.send(
        new sdk.ListObjectsV2Command({
          Bucket: bucket,
          Prefix: prefix,
          // XML cannot represent every character of a key.
          EncodingType: 'url',
          Delimiter: shallow ? '/' : undefined,
          MaxKeys: limit,
          ContinuationToken: token,
        }),
        options,
      ),
    )
    const page = parsePage(response, call)
    progress.check(page, response, token)
    if (page.length > 0) yield page
    token = response.IsTruncated ? response.NextContinuationToken : undefined
  } while (token !== undefined)
}

/** Checks that a listing makes progress. */
class ListingProgress {
  readonly #prefix: string
  readonly #call: S3Call
  #last: Buffer | undefined
  #emptyPages = 0
  /** True if the last page had only the key before it. */
  #isRepeated = false

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
    if (stray !== undefined)
      throw createListingError(this.#call, 'it lists keys outside the requested prefix')
    if (IsTruncated && (NextContinuationToken ?? '') === '') {
      throw createListingError(this.#call, 'a truncated listing has no continuation token')
    }
    if (IsTruncated && NextContinuationToken === token) {
      throw createListingError(this.#call, 'the listing repeats a page')
    }
    this.#emptyPages = page.length === 0 ? this.#emptyPages + 1 : 0
    if (this.#emptyPages > MAX_EMPTY_PAGES) {
      throw createListingError(
        this.#call,
        `the listing has more than ${MAX_EMPTY_PAGES} empty pages in a row`,
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
    const isRepeated = order === 0
    if (order < 0 || (isRepeated && (page.length > 1 || this.#isRepeated))) {
      throw createListingError(this.#call, 'the listing repeats earlier keys')
    }
    this.#last = key
    this.#isRepeated = isRepeated
  }
}

function createListingError({ op, path }: S3Call, fault: string): VfsError {
  const detail = `the server does not follow the S3 protocol: ${fault}; check the endpoint`
  return new VfsError('EIO', path, { op, detail })
}

/** Reports whether any key has a prefix. */
export async function hasKeys(connection: S3Connection, prefix: string, call: S3Call): Promise<boolean> {
  for await (const _ of listKeyPages(connection, prefix, { limit: 1 }, call)) return true
  return false
}

/** Returns the stat of an object. */
export function createFileStat(size = 0, modified: Date = EPOCH): Stat {
  // Only listings may have milliseconds; rounded, so that both sources agree.
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
  // A copy: the parser's string is a slice of the whole response and would keep it in memory.
  const own = Buffer.from(text).toString()
  if (!isEncoded) return own
  try {
    return decodeURIComponent(own.replaceAll('+', ' '))
  } catch {
    throw createListingError(call, 'it lists keys that are not URL-encoded')
  }
}
