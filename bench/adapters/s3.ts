import type { Target, Work } from '../harness/benchmark.ts'
import { bytes, rate } from '../harness/entries.ts'
import { Targets } from '../harness/targets.ts'

const MB = 1_000_000
const ours = new Targets('coppice')

/** Module of the part on buckets. */
export const s3Part = { s3: './s3/listing.ts' }

export const s3Works: readonly Work[] = [
  rate('s3-walk', 'keys of a bucket walked'),
  bytes('s3-memory', 'memory it takes to walk them all and to list a directory of half of them'),
]

export const s3Targets: readonly Target[] = [
  ours.below(100 * MB, 's3-memory', 'memory of 100,000 keys of S3'),
]

export const s3Notes: readonly string[] = [
  'S3: 100,000 keys in pages of 1,000, from a process on loopback that answers nothing but ListObjectsV2; memory is the most that is resident, garbage collected, above that of the loaded SDK.',
]
