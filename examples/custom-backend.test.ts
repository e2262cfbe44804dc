import { MountTable, ReadOnlyFs } from 'coppice'
import { fileSystemSuite, type Seed } from 'coppice/conformance'
import { describe, it } from 'vitest'
import { BucketFs } from './custom-backend.ts'

fileSystemSuite({ describe, it }, { name: 'BucketFs', create: () => new BucketFs() })

function bucketOf(seed: Seed): Map<string, Blob> {
  return new Map(Object.entries(seed).map(([path, content]) => [path, new Blob([content])]))
}

fileSystemSuite(
  { describe, it },
  { name: 'a read-only bucket', create: (seed) => new ReadOnlyFs(new BucketFs(bucketOf(seed))) },
)

fileSystemSuite(
  { describe, it },
  { name: 'a mounted bucket', create: (seed) => new MountTable({ '/': new BucketFs(bucketOf(seed)) }) },
)

/** A store that keeps one Unicode form of each key, as some databases do. */
class ComposedKeys extends Map<string, Blob> {
  override get(key: string): Blob | undefined {
    return super.get(key.normalize('NFC'))
  }

  override has(key: string): boolean {
    return super.has(key.normalize('NFC'))
  }

  override set(key: string, blob: Blob): this {
    return super.set(key.normalize('NFC'), blob)
  }

  override delete(key: string): boolean {
    return super.delete(key.normalize('NFC'))
  }
}

fileSystemSuite(
  { describe, it },
  {
    name: 'a bucket with composed keys',
    create: () => new BucketFs(new ComposedKeys()),
    expectedFailures: {
      'names that differ only in case or Unicode form are different':
        'the store keeps one Unicode form of each key',
    },
  },
)
