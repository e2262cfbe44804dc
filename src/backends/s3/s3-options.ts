import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3'
import { VfsError } from '../../vfs/index.ts'

const MIB = 1024 * 1024
/** What S3 takes as a part that is not the last. */
const MIN_PART_SIZE = 5 * MIB
const DEFAULT_PART_SIZE = 8 * MIB

export interface S3Options {
  readonly bucket: string
  /** The files are the keys that begin with it. `team` and `team/` mean the same; the whole bucket when absent. */
  readonly prefix?: string
  /**
   * A client, which stays the caller's, or what to make one of; the AWS SDK's own settings when absent.
   * Credentials that are not given are looked up by the SDK, in the environment and in `~/.aws`.
   */
  readonly client?: S3Client | S3ClientConfig
  /** Files over this size are sent in parts of it: 8 MiB when absent, at least 5 MiB. A file has 10,000 parts at most. */
  readonly partSize?: number
}

/** The part size to use. EINVAL if S3 would refuse it. */
export function getPartSize({ partSize = DEFAULT_PART_SIZE }: S3Options): number {
  if (Number.isInteger(partSize) && partSize >= MIN_PART_SIZE) return partSize
  throw new VfsError('EINVAL', '/', {
    detail: `partSize must be an integer from ${MIN_PART_SIZE} (5 MiB), not ${partSize}`,
  })
}
