/**
 * An S3 bucket, or a prefix of one, as a file system: keys are paths, and nothing is cached. `s3-connection.ts` sends
 * requests and translates errors, `s3-tree.ts` maps a tree to keys, `multipart.ts` sends large files. Invariant: a
 * failed write leaves neither a file nor a part of one, and a key that is no valid path is never shown.
 */
export { S3Fs } from './s3-fs.ts'
export type { S3Options } from './s3-options.ts'
export { S3Segments, type S3SegmentsOptions } from './s3-segments.ts'
