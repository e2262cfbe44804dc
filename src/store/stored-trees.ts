import {
  diffFiles,
  type FileChange,
  listChangedInodes,
  listChangedNames,
  type NameChange,
} from './files/diff-files.ts'
import { VaultFiles } from './files/vault-files.ts'
import type { NodeCache } from './tree/node-cache.ts'
import type { PageCodec } from './tree/page-codec.ts'
import { Tree } from './tree/tree.ts'
import type { NodeRef } from './tree/tree-node.ts'
import type { TreeValue } from './tree/tree-values.ts'
import type { BlobStore } from './vault/blob-store.ts'
import { isSameContent } from './vault/file-content.ts'

/** Pages and blobs of a home, which its trees share. */
interface TreeStorage {
  readonly cache: NodeCache<TreeValue>
  readonly codec: PageCodec<TreeValue>
  readonly blobs: BlobStore
}

/** Opens and compares the trees of a home, by their roots. */
export class StoredTrees {
  readonly #storage: TreeStorage

  constructor({ cache, codec, blobs }: TreeStorage) {
    this.#storage = { cache, codec, blobs }
  }

  /** Returns the files of a stored tree, which never change. */
  getFilesAt(root: NodeRef<TreeValue>): VaultFiles {
    return new VaultFiles(new Tree(this.#storage.cache, root))
  }

  /**
   * Lists the changes from one tree to another, in time proportional to the changes. Inodes from number `apartFrom`
   * on are unrelated: they were created after the trees diverged.
   */
  diff(before: NodeRef<TreeValue>, after: NodeRef<TreeValue>, apartFrom?: number): FileChange[] {
    const comparison = this.#createComparison(before, after)
    return diffFiles(apartFrom === undefined ? comparison : { ...comparison, apartFrom })
  }

  /** Lists every inode with any difference between two trees. */
  listChangedInodes(before: NodeRef<TreeValue>, after: NodeRef<TreeValue>): Set<number> {
    return listChangedInodes(this.#createComparison(before, after))
  }

  /** Lists every name that leads elsewhere in the second tree. */
  listChangedNames(before: NodeRef<TreeValue>, after: NodeRef<TreeValue>): NameChange[] {
    return listChangedNames(this.#createComparison(before, after))
  }

  #createComparison(before: NodeRef<TreeValue>, after: NodeRef<TreeValue>): Parameters<typeof diffFiles>[0] {
    const { cache, codec, blobs } = this.#storage
    return {
      source: cache,
      before,
      after,
      isSameValue: (one, other) => codec.isSameValue(one, other),
      sameBytes: (old, oldNumber, current, newNumber) =>
        isSameContent(old, oldNumber, current, newNumber, blobs),
    }
  }
}
