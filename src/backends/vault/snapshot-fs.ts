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

/** A vault as it was once. Nobody writes to it: it is always handed out read-only. */
export class SnapshotFs extends VaultFs implements Searchable {
  readonly #search: VaultSearch

  constructor(home: StoreHome, log: VaultLog, find: () => number) {
    // The past never changes, so it is looked up once.
    let root: number | undefined
    const getRoot = () => {
      root ??= find()
      return root
    }
    let files: VaultFiles | undefined
    const read = (): VaultFiles => {
      if (files !== undefined) return files
      home.session.beginRead()
      files = home.getFilesAt(getRoot())
      // The checkpoint may be removed while somebody looks into it.
      home.session.hold(files.tree)
      return files
    }
    const submitNow = () => {
      throw new VfsError('EROFS', '/', { detail: 'the past cannot be changed' })
    }
    super(
      {
        openInodes: new OpenInodes(),
        readFiles: read,
        submit: () => Promise.resolve(),
        submitSync: submitNow,
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
