import {
  createSearchIndex,
  OpenInodes,
  type StoreHome,
  type VaultFiles,
  type VaultLog,
} from '../../store/index.ts'
import { type CallContext, type Match, type Searchable, type SearchQuery, VfsError } from '../../vfs/index.ts'
import { VaultFs } from './vault-fs.ts'
import { VaultSearch } from './vault-search.ts'

/** A vault as it was at a checkpoint or at its fork. Every change is EROFS. */
export class SnapshotFs extends VaultFs implements Searchable {
  readonly #search: VaultSearch

  constructor(home: StoreHome, log: VaultLog, findRoot: () => number) {
    // A snapshot never changes, so its root is read once.
    let root: number | undefined
    const getRoot = () => {
      root ??= findRoot()
      return root
    }
    let files: VaultFiles | undefined
    const read = (): VaultFiles => {
      if (files !== undefined) return files
      home.session.beginRead()
      files = home.trees.getFilesAt(getRoot())
      // The checkpoint may be removed while this reads it.
      home.session.hold(files.tree)
      return files
    }
    const refuse = (): never => {
      throw new VfsError('EROFS', '/', {
        detail: 'a snapshot cannot be changed; change the vault or a fork of it',
      })
    }
    super(
      {
        openInodes: new OpenInodes(),
        readFiles: read,
        submit: async () => refuse(),
        submitSync: refuse,
      },
      home.blobs,
      ['search'],
    )
    this.#search = new VaultSearch(createSearchIndex(home, log), () =>
      home.reader.run(() => ({ root: getRoot() })),
    )
  }

  search(root: string, query: SearchQuery, ctx?: CallContext): AsyncIterable<Match> {
    return this.stream('search', root, ctx, (checked, inner) => this.#search.search(checked, query, inner))
  }
}
