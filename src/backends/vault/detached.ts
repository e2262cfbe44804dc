import { Blobs, type Files, type StoreHome } from '../../store/index.ts'
import type { Forkable } from '../../vfs/index.ts'
import { DetachedFiles } from './detached-files.ts'
import { VaultFs } from './vault-fs.ts'

/** A fork without a name, in constant time, gone when nobody holds it. */
export class DetachedFs extends VaultFs implements Forkable {
  private constructor(files: Files, blobs: Blobs) {
    super(new DetachedFiles(files, blobs.reader), blobs, ['fork'])
  }

  static from({ reader, ids }: StoreHome, files: Files): DetachedFs {
    // Its blobs never wait for a commit, so however many there are, they stay in memory.
    return new DetachedFs(files, new Blobs(reader, ids.next, Number.POSITIVE_INFINITY))
  }

  fork(): DetachedFs {
    return new DetachedFs(this.source.read(), this.blobs)
  }
}
