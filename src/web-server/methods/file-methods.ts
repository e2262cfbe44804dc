import { z } from 'zod'
import type { Vault } from '../../backends/vault/index.ts'
import {
  type CallContext,
  child,
  type FileSystem,
  grep,
  isLinkable,
  type LinePattern,
  type SearchQuery,
  VfsError,
} from '../../vfs/index.ts'
import type { WebEntry, WebMatch, WebMatches } from '../../web-api/index.ts'
import {
  defineExactMethod,
  defineWebMethod,
  fileShape,
  type MethodTable,
  pageShape,
  query,
} from '../define-method.ts'
import { mapPage, paginate } from '../paginate.ts'
import { readImage } from '../read-image.ts'
import { readPart } from '../read-part.ts'
import { shortenText } from '../shorten-text.ts'
import type { WebContext } from '../web-context.ts'

const MAX_MATCH_LENGTH = 500
const DEFAULT_MATCHES = 100

type FileMethod = 'listFiles' | 'readFile' | 'readImage' | 'searchFiles'

export function createFileMethods(web: WebContext): MethodTable<FileMethod> {
  const { trees, redactor } = web
  const shortenMatch = (line: string) => shortenText(line, redactor, MAX_MATCH_LENGTH).text
  return {
    listFiles: defineWebMethod(
      'listFiles',
      z.strictObject({ ...fileShape, ...pageShape }),
      async ({ tree, path, ...page }, signal) => {
        const { fs } = await trees.open(tree)
        const entries = await Array.fromAsync(fs.readdir(path, { signal }))
        entries.sort(compareEntries)
        return mapPage(paginate(entries, page), ({ name }) =>
          describeEntry(fs, child(path, name), name, { signal }),
        )
      },
    ),
    readFile: defineWebMethod(
      'readFile',
      z.strictObject({ ...fileShape, offset: query.number.exactOptional() }),
      async ({ tree, path, offset = 0 }, signal) => {
        const { fs, vault, ref } = await trees.open(tree)
        const content = await readPart(fs, path, offset, { signal })
        const text = redactor.redactText(content.text)
        const isCurrent = ref.kind !== 'directory' && ref.at === undefined
        const version = isCurrent && vault !== undefined ? await findVersion(vault, path) : null
        return { ...content, text, isRedacted: text !== content.text, version }
      },
    ),
    // Exact: what looks like a secret in its bytes is none.
    readImage: defineExactMethod('readImage', z.strictObject(fileShape), async ({ tree, path }, signal) => {
      const { fs } = await trees.open(tree)
      return readImage(fs, path, { signal })
    }),
    searchFiles: defineWebMethod(
      'searchFiles',
      z.strictObject({
        ...fileShape,
        query: query.text.min(1),
        ignoreCase: query.flag.exactOptional(),
        limit: pageShape.limit,
      }),
      async ({ tree, path, query: text, ignoreCase = false, limit = DEFAULT_MATCHES }, signal) => {
        const { fs } = await trees.open(tree)
        const pattern = ignoreCase ? createCaselessPattern(text) : text
        const { matches, isCut } = await searchLines(fs, path, { pattern }, limit, { signal })
        return { matches: matches.map((match) => ({ ...match, text: shortenMatch(match.text) })), isCut }
      },
    ),
  }
}

/** Compares entries for the order of a list: directories first, then by name. */
function compareEntries(
  one: { readonly name: string; readonly type: string },
  other: { readonly name: string; readonly type: string },
): number {
  const rank = ({ type }: { readonly type: string }) => (type === 'directory' ? 0 : 1)
  return rank(one) - rank(other) || (one.name < other.name ? -1 : 1)
}

async function describeEntry(
  fs: FileSystem,
  path: string,
  name: string,
  ctx: CallContext,
): Promise<WebEntry> {
  const { type, size, mtime } = await fs.stat(path, ctx)
  const target = type === 'symlink' && isLinkable(fs) ? await fs.readlink(path, ctx) : undefined
  return { name, path, type, size, mtime: mtime.toISOString(), ...(target !== undefined && { target }) }
}

async function findVersion(vault: Vault, path: string): Promise<string | null> {
  try {
    for await (const { version } of vault.versions(path)) return version
  } catch (error) {
    // A path that the fork never touched, or a link.
    if (!(error instanceof VfsError)) throw error
  }
  return null
}

async function searchLines(
  fs: FileSystem,
  path: string,
  search: SearchQuery,
  limit: number,
  ctx: CallContext,
): Promise<WebMatches> {
  const matches: WebMatch[] = []
  for await (const { path: found, line, text } of grep(fs, path, search, ctx)) {
    if (matches.length === limit) return { matches, isCut: true }
    matches.push({ path: found, line, text })
  }
  return { matches, isCut: false }
}

function createCaselessPattern(text: string): LinePattern {
  const lowerCase = text.toLowerCase()
  return {
    source: text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'),
    flags: 'i',
    test: (line) => line.toLowerCase().includes(lowerCase),
  }
}
