import { BlobStore, type StoreHome, type VaultFiles } from '../../store/index.ts'
import type { Forkable } from '../../vfs/index.ts'
import { DetachedFiles } from './detached-files.ts'
import { VaultFs } from './vault-fs.ts'

/** An unnamed fork, created in constant time. It vanishes when nothing references it. */
export class DetachedFs extends VaultFs implements Forkable {
  private constructor(files: VaultFiles, blobs: BlobStore) {
    super(new DetachedFiles(files, blobs.reader), blobs, ['fork'])
  }

  static from({ reader, ids }: StoreHome, files: VaultFiles): DetachedFs {
    return new DetachedFs(files, new BlobStore(reader, ids.next, { canCommit: false }))
  }

  fork(): DetachedFs {
    return new DetachedFs(this.source.readFiles(), this.blobs)
  }
}
