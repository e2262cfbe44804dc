import type { MaybePromise } from '../engine.ts'
import { chain } from '../maybe-promise.ts'
import type { StoreHome } from '../store-home.ts'
import { readContent } from '../vault/file-content.ts'
import { encodeHead, vaultKey } from '../vault/vault-head.ts'
import type { VaultLog } from '../vault/vault-log.ts'
import { EngineIndexRecords } from './index-record.ts'
import { type SearchedTree, SearchIndex, type SearchLimits } from './search-index.ts'

/** Creates the search index of a vault. A fork starts with its ancestor's. */
export function createSearchIndex(
  home: StoreHome,
  { head }: VaultLog,
  limits: Partial<SearchLimits> = {},
): SearchIndex {
  const { engine, cache: source, codec, ids, reader, blobs } = home
  const records = new EngineIndexRecords(engine, [head.id, ...head.lineage.map(({ id }) => id)])
  return new SearchIndex({
    source,
    codec,
    ids,
    records,
    limits,
    retry: (work) => reader.run(work),
    readFile: (files, number) => {
      const [first = new Uint8Array(0), ...rest] = readContent(files, number, blobs)
      return rest.length === 0 ? first : Buffer.concat([first, ...rest])
    },
  })
}

/** Opens the current tree of a vault for a search. */
export function openSearchedTree(
  { reader }: StoreHome,
  name: string,
  log: VaultLog,
): MaybePromise<SearchedTree> {
  const flush = async () => {
    const root = await log.flushPages()
    return { root, expect: [{ key: vaultKey(name), bytes: encodeHead(log.head) }] }
  }
  return chain(reader.session.beginRead(), () =>
    reader.run(() => {
      const tree = log.readFiles().tree.fork()
      return { root: tree.snapshot(), hold: reader.session.hold(tree), flush }
    }),
  )
}
