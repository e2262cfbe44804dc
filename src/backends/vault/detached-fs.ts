import { BlobStore, type StoreHome, type VaultFiles } from '../../store/index.ts'
import type { Forkable } from '../../vfs/index.ts'
import { DetachedFiles } from './detached-files.ts'
import { VaultFs } from './vault-fs.ts'

/** A fork without a name, in constant time, gone when nobody holds it. */
export class DetachedFs extends VaultFs implements Forkable {
  private constructor(files: VaultFiles, blobs: BlobStore) {
    super(new DetachedFiles(files, blobs.reader), blobs, ['fork'])
  }

  static from({ reader, ids }: StoreHome, files: VaultFiles): DetachedFs {
    // Its blobs never wait for a commit, so however many there are, they stay in memory.
    return new DetachedFs(files, new BlobStore(reader, ids.next, Number.POSITIVE_INFINITY))
  }

  fork(): DetachedFs {
    return new DetachedFs(this.source.readFiles(), this.blobs)
  }
}
