import { z } from 'zod'
import type { BlameLine, FileVersion } from '../../backends/vault/index.ts'
import type { WebBlameLine } from '../../web-api/index.ts'
import { defineWebMethod, fileShape, type MethodTable, pageShape, query } from '../define-method.ts'
import { describeCheckpoint } from '../describe-checkpoint.ts'
import { readJournalBuckets, toJournalRow } from '../journal-buckets.ts'
import { mapPage, paginate, paginateStream } from '../paginate.ts'
import { MAX_PART_BYTES } from '../read-part.ts'
import { shortenText } from '../shorten-text.ts'
import type { OpenTreeRef } from '../trees/home-trees.ts'
import { findRow, requireVault } from '../trees/tree-moment.ts'
import { WebAuthors } from '../web-author.ts'
import type { WebContext } from '../web-context.ts'

type HistoryMethod = 'listVersions' | 'listBlame' | 'listJournal' | 'getJournalBuckets' | 'listCheckpoints'

export function createHistoryMethods(web: WebContext): MethodTable<HistoryMethod> {
  const openVault = async (tree: string) => requireVault(await web.trees.open(tree))
  const blame = new BlameCache()
  return {
    listVersions: defineWebMethod(
      'listVersions',
      z.strictObject({ ...fileShape, ...pageShape }),
      async ({ tree, path, ...page }) => {
        const open = await web.trees.open(tree)
        const vault = requireVault(open)
        const authors = await WebAuthors.read(vault)
        const versions = filterVersions(vault.versions(path), await findRow(open))
        return mapPage(await paginateStream(versions, page), (version) => ({
          version: version.version,
          seq: Number(version.version),
          time: version.time.toISOString(),
          size: version.size,
          op: version.op,
          author: authors.find(version, Number(version.version)),
        }))
      },
    ),
    listBlame: defineWebMethod(
      'listBlame',
      z.strictObject({ ...fileShape, ...pageShape }),
      async ({ tree, path, ...page }) => {
        const open = await web.trees.open(tree)
        const authors = await WebAuthors.read(requireVault(open))
        return mapPage(paginate(await blame.read(open, path), page), (line): WebBlameLine => {
          const seq = Number(line.version)
          const { text } = shortenText(line.text, web.redactor, MAX_PART_BYTES)
          return {
            line: line.line,
            text,
            seq,
            time: line.time.toISOString(),
            author: authors.find(line, seq),
          }
        })
      },
    ),
    listJournal: defineWebMethod(
      'listJournal',
      z.strictObject({ tree: query.text, path: query.text.exactOptional(), ...pageShape }),
      async ({ tree, path, ...page }) => {
        const vault = await openVault(tree)
        const authors = await WebAuthors.read(vault)
        const rows = vault.journal({ newestFirst: true, ...(path !== undefined && { path }) })
        return mapPage(await paginateStream(rows, page), (row) => toJournalRow(row, authors))
      },
    ),
    getJournalBuckets: defineWebMethod(
      'getJournalBuckets',
      z.strictObject({
        tree: query.text,
        from: query.number.exactOptional(),
        to: query.number.exactOptional(),
        count: query.number.exactOptional(),
      }),
      async ({ tree, ...range }) => readJournalBuckets(await openVault(tree), range),
    ),
    listCheckpoints: defineWebMethod(
      'listCheckpoints',
      z.strictObject({ tree: query.text, ...pageShape }),
      async ({ tree, ...page }) => {
        const vault = await openVault(tree)
        const listed = (await vault.checkpoints()).toReversed()
        return mapPage(paginate(listed, page), (checkpoint) => describeCheckpoint(vault, checkpoint))
      },
    ),
  }
}

/** Returns the versions up to a journal row. */
async function* filterVersions(
  versions: AsyncIterable<FileVersion>,
  row: number | undefined,
): AsyncGenerator<FileVersion> {
  for await (const version of versions) if (row === undefined || Number(version.version) <= row) yield version
}

/** Keeps the last blame, of which a page reads one part after another. */
class BlameCache {
  #key = ''
  #lines: readonly BlameLine[] = []

  async read(open: OpenTreeRef, path: string): Promise<readonly BlameLine[]> {
    const vault = requireVault(open)
    const row = await findRow(open)
    const key = JSON.stringify([vault.name, path, row ?? (await vault.getLastRow())])
    if (key !== this.#key) {
      this.#lines = await vault.blame(path, row)
      this.#key = key
    }
    return this.#lines
  }
}
