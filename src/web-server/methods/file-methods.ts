import { isUtf8 } from 'node:buffer'
import { z } from 'zod'
import type { BlameLine, FileVersion, Vault } from '../../backends/vault/index.ts'
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
import type {
  WebBlameLine,
  WebCheckpoint,
  WebContent,
  WebEntry,
  WebMatch,
  WebMatches,
} from '../../web-api/index.ts'
import { defineWebMethod, type MethodTable, pageShape, query } from '../define-method.ts'
import { readJournalBuckets, toJournalRow } from '../journal-buckets.ts'
import { restoreRow } from '../merge/restore-row.ts'
import { mapPage, paginate, paginateStream } from '../paginate.ts'
import type { OpenTreeRef } from '../trees/home-trees.ts'
import { WebAuthors } from '../web-author.ts'
import type { WebContext } from '../web-context.ts'

const MAX_PART_BYTES = 256 * 1024
/** Length of the prefix in which a NUL byte marks a file as binary. */
const BINARY_PROBE_BYTES = 8000
const MAX_MATCH_LENGTH = 500
const DEFAULT_MATCHES = 100
const KEY_BEGIN = '-----BEGIN '
const KEY_END = /-----END [A-Z ]*PRIVATE KEY-----/

type FileMethod =
  | 'listFiles'
  | 'readFile'
  | 'listVersions'
  | 'listBlame'
  | 'searchFiles'
  | 'listJournal'
  | 'getJournalBuckets'
  | 'listCheckpoints'
  | 'createCheckpoint'
  | 'restoreTree'
  | 'revertFile'

export function createFileMethods(web: WebContext): MethodTable<FileMethod> {
  return { ...createReadMethods(web), ...createHistoryMethods(web), ...createRestoreMethods(web) }
}

const file = { tree: query.text, path: query.text } as const
const bodyText = z.string().max(4096)

function createReadMethods(web: WebContext): MethodTable<'listFiles' | 'readFile' | 'searchFiles'> {
  const { trees, redactor } = web
  return {
    listFiles: defineWebMethod(
      'listFiles',
      z.strictObject({ ...file, ...pageShape }),
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
      z.strictObject({ ...file, offset: query.number.exactOptional() }),
      async ({ tree, path, offset = 0 }, signal) => {
        const { fs, vault, ref } = await trees.open(tree)
        const content = await readPart(fs, path, offset, { signal })
        const text = redactor.redactText(content.text)
        const isCurrent = ref.kind !== 'directory' && ref.at === undefined
        const version = isCurrent && vault !== undefined ? await findVersion(vault, path) : null
        return { ...content, text, isRedacted: text !== content.text, version }
      },
    ),
    searchFiles: defineWebMethod(
      'searchFiles',
      z.strictObject({
        ...file,
        query: query.text.min(1),
        ignoreCase: query.flag.exactOptional(),
        limit: pageShape.limit,
      }),
      async ({ tree, path, query: text, ignoreCase = false, limit = DEFAULT_MATCHES }, signal) => {
        const { fs } = await trees.open(tree)
        const pattern = ignoreCase ? createCaselessPattern(text) : text
        return searchLines(fs, path, { pattern }, limit, { signal })
      },
    ),
  }
}

function createHistoryMethods(
  web: WebContext,
): MethodTable<'listVersions' | 'listBlame' | 'listJournal' | 'getJournalBuckets' | 'listCheckpoints'> {
  const openVault = async (tree: string) => requireVault(await web.trees.open(tree))
  const blame = new KeptBlame()
  return {
    listVersions: defineWebMethod(
      'listVersions',
      z.strictObject({ ...file, ...pageShape }),
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
      z.strictObject({ ...file, ...pageShape }),
      async ({ tree, path, ...page }) => {
        const open = await web.trees.open(tree)
        const authors = await WebAuthors.read(requireVault(open))
        return mapPage(paginate(await blame.read(open, path), page), (line): WebBlameLine => {
          const seq = Number(line.version)
          const text = line.text.slice(0, MAX_PART_BYTES)
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

function createRestoreMethods(
  web: WebContext,
): MethodTable<'createCheckpoint' | 'restoreTree' | 'revertFile'> {
  const { caller, trees } = web
  return {
    createCheckpoint: defineWebMethod(
      'createCheckpoint',
      z.strictObject({
        tree: bodyText,
        name: bodyText.exactOptional(),
        description: bodyText.exactOptional(),
      }),
      async ({ tree, name, description }) => {
        const open = await trees.open(tree)
        const vault = requireVault(open)
        assertCurrent(open)
        const { link, fork } = open.linked ?? {}
        if (link !== undefined && fork !== undefined) await link.markUsed(fork)
        const created =
          link !== undefined && fork !== undefined
            ? await link.checkpoint(fork, name)
            : await vault.checkpoint(name, { ...(description !== undefined && { description }) })
        return describeCheckpoint(vault, created)
      },
    ),
    restoreTree: defineWebMethod('restoreTree', z.strictObject({ tree: bodyText }), async ({ tree }) => {
      const open = await trees.open(tree)
      const vault = requireVault(open)
      await restoreTree(web, open, vault)
      return { seq: await vault.getLastRow() }
    }),
    revertFile: defineWebMethod(
      'revertFile',
      z.strictObject({ tree: bodyText, path: bodyText, version: bodyText }),
      async ({ tree, path, version }) => {
        const open = await trees.open(tree)
        assertCurrent(open)
        const vault = requireVault(open)
        await vault.revert(path, version, { caller })
        return { seq: await vault.getLastRow() }
      },
    ),
  }
}

async function describeCheckpoint(
  vault: Vault,
  {
    name,
    time,
    description = '',
  }: { readonly name: string; readonly time: Date; readonly description?: string },
): Promise<WebCheckpoint> {
  return { name, time: time.toISOString(), seq: await vault.getCheckpointRow(name), description }
}

/** Restores a vault or fork to a checkpoint, or a vault to any moment of its journal. EINVAL. */
async function restoreTree({ caller, home }: WebContext, open: OpenTreeRef, vault: Vault): Promise<void> {
  const { ref, linked } = open
  if (ref.kind === 'directory' || ref.at === undefined)
    throw createRequestError('name the moment to restore, such as vault:NAME@CHECKPOINT')
  if (ref.at !== 'base' && 'checkpoint' in ref.at) {
    if (linked?.fork !== undefined) await linked.link.restore(linked.fork, ref.at.checkpoint, { caller })
    else await vault.restore(ref.at.checkpoint, { caller })
  } else if (linked === undefined) await restoreRow(home, vault.name, (await findRow(open)) ?? 0, { caller })
  else throw createRequestError('a fork of a directory is restored to a checkpoint; choose one')
}

/** Returns the versions up to a journal row. */
async function* filterVersions(
  versions: AsyncIterable<FileVersion>,
  row: number | undefined,
): AsyncGenerator<FileVersion> {
  for await (const version of versions) if (row === undefined || Number(version.version) <= row) yield version
}

/** Returns the journal row of the moment of a tree; undefined for its current state. */
async function findRow({ ref, vault }: OpenTreeRef): Promise<number | undefined> {
  if (ref.kind === 'directory' || ref.at === undefined || vault === undefined) return undefined
  if (ref.at === 'base') return vault.getForkRow()
  return 'seq' in ref.at ? ref.at.seq : vault.getCheckpointRow(ref.at.checkpoint)
}

/** Keeps the last blame, of which a page reads one part after another. */
class KeptBlame {
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

/** Returns the vault of a tree with a journal. EINVAL for a directory. */
function requireVault({ vault }: OpenTreeRef): Vault {
  if (vault !== undefined) return vault
  throw createRequestError('a directory has no journal; choose one of its forks')
}

function assertCurrent({ ref }: OpenTreeRef): void {
  if (ref.kind !== 'directory' && ref.at === undefined) return
  throw createRequestError('an earlier state cannot be changed; name the vault or fork itself')
}

function createRequestError(detail: string): VfsError {
  return new VfsError('EINVAL', '/', { op: 'request', detail })
}

/** Directories come first. */
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

/** Reads a part of a file that ends with a line, and not inside of a private key. */
async function readPart(
  fs: FileSystem,
  path: string,
  offset: number,
  ctx: CallContext,
): Promise<Omit<WebContent, 'version' | 'isRedacted'>> {
  const { type, size, mtime } = await fs.stat(path, ctx)
  const about = { path, type, size, mtime: mtime.toISOString(), offset }
  if (type === 'directory') throw new VfsError('EISDIR', path, { op: 'read' })
  if (type === 'symlink' && isLinkable(fs))
    return { ...about, isBinary: false, text: await fs.readlink(path, ctx), next: null }
  const probe = await readRange(fs, path, 0, Math.min(size, BINARY_PROBE_BYTES), ctx)
  const bytes = await readRange(fs, path, offset, MAX_PART_BYTES, ctx)
  const isEnd = offset + bytes.length >= size
  const part = isEnd ? bytes : bytes.subarray(0, findCut(bytes))
  if (probe.includes(0) || !isUtf8(part)) return { ...about, isBinary: true, text: '', next: null }
  return {
    ...about,
    isBinary: false,
    text: new TextDecoder().decode(part),
    next: isEnd ? null : offset + part.length,
  }
}

/** Finds the end of the last whole line; in a line without an end, that of the last whole character. */
function findCut(bytes: Uint8Array): number {
  const end = bytes.lastIndexOf(0x0a) + 1
  if (end === 0) {
    let at = bytes.length
    while (at > 0 && ((bytes[at - 1] ?? 0) & 0xc0) === 0x80) at--
    return Math.max(1, at - 1)
  }
  const text = Buffer.from(bytes.subarray(0, end)).toString('latin1')
  const key = text.lastIndexOf(KEY_BEGIN)
  return key > 0 && !KEY_END.test(text.slice(key)) ? text.lastIndexOf('\n', key) + 1 || end : end
}

async function readRange(
  fs: FileSystem,
  path: string,
  offset: number,
  length: number,
  ctx: CallContext,
): Promise<Uint8Array> {
  if (length === 0) return new Uint8Array(0)
  const parts = await Array.fromAsync(fs.read(path, { byteRange: [offset, length] }, ctx))
  return Buffer.concat(parts)
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
    matches.push({ path: found, line, text: text.slice(0, MAX_MATCH_LENGTH).toWellFormed() })
  }
  return { matches, isCut: false }
}

function createCaselessPattern(text: string): LinePattern {
  const wanted = text.toLowerCase()
  return {
    source: text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'),
    flags: 'i',
    test: (line) => line.toLowerCase().includes(wanted),
  }
}
