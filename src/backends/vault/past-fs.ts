import { type Files, OpenInodes, type StoreHome, searchIndexOf, type VaultLog } from '../../store/index.ts'
import { type CallContext, type Match, type Searchable, type SearchQuery, VfsError } from '../../vfs/index.ts'
import { VaultFs } from './vault-fs.ts'
import { VaultSearch } from './vault-search.ts'

/** A vault as it was once. Nobody writes to it: it is always handed out read-only. */
export class PastFs extends VaultFs implements Searchable {
  readonly #search: VaultSearch

  constructor(home: StoreHome, log: VaultLog, find: () => number) {
    // The past never changes, so it is looked up once.
    let root: number | undefined
    const rootOf = () => {
      root ??= find()
      return root
    }
    let files: Files | undefined
    const read = (): Files => {
      if (files !== undefined) return files
      home.session.enter()
      files = home.filesAt(rootOf())
      // The checkpoint may be removed while somebody looks into it.
      home.session.hold(files.tree)
      return files
    }
    const submitNow = () => {
      throw new VfsError('EROFS', '/', { detail: 'the past cannot be changed' })
    }
    super({ opens: new OpenInodes(), read, submit: () => Promise.resolve(), submitNow }, home.blobs, [
      'search',
    ])
    this.#search = new VaultSearch(searchIndexOf(home, log), () =>
      home.reader.resolve(() => ({ root: rootOf() })),
    )
  }

  search(root: string, query: SearchQuery, ctx?: CallContext): AsyncIterable<Match> {
    return this.stream('search', root, ctx, (checked, inner) => this.#search.search(checked, query, inner))
  }
}
