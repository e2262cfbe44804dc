/**
 * A bucket of S3, or what is below a prefix of it, as a file system: keys are paths, and nothing is kept here.
 * `connection.ts` asks and tells failures, `s3-fs.ts` is the tree over keys that know none, `multipart.ts` sends large files.
 * Invariant: a failed write leaves neither a file nor a part of one, and no key is shown that is not a path.
 */
export { S3Fs } from './s3-fs.ts'
export type { S3Options } from './s3-options.ts'
