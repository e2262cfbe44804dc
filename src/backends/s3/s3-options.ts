import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3'
import { VfsError } from '../../vfs/index.ts'

const MIB = 1024 * 1024
/** Minimum size of a part in S3, except of the last. */
const MIN_PART_SIZE = 5 * MIB
const DEFAULT_PART_SIZE = 8 * MIB

/** Options of `S3Fs`. */
export interface S3Options {
  readonly bucket: string
  /** The prefix of the keys to show. `team` and `team/` are equivalent. The whole bucket when absent. */
  readonly prefix?: string
  /**
   * A client, which the caller closes, or the configuration for one. The AWS SDK's defaults when absent. Missing
   * credentials are looked up by the SDK in the environment and in `~/.aws`.
   */
  readonly client?: S3Client | S3ClientConfig
  /** The part size for files over this size: at least 5 MiB, 8 MiB when absent. A file has at most 10,000 parts. */
  readonly partSize?: number
}

/** Returns the part size. Throws EINVAL if S3 would reject it. */
export function getPartSize({ partSize = DEFAULT_PART_SIZE }: S3Options): number {
  if (Number.isInteger(partSize) && partSize >= MIN_PART_SIZE) return partSize
  throw new VfsError('EINVAL', '/', {
    detail: `partSize is ${partSize}; pass an integer from ${MIN_PART_SIZE} (5 MiB)`,
  })
}
