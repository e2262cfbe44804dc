import { createHash } from 'node:crypto'
import { pipeline, Readable } from 'node:stream'
import { constants, createDeflate } from 'node:zlib'
import { type CallContext, type FileSystem, type PathChange, type Stat, VfsError } from '../vfs/index.ts'
import { encodeBase85Lines } from './base85.ts'
import type { TreePair } from './patch.ts'
import { formatModeNote, formatPatchHeader, toGitMode } from './patch-header.ts'

/** The level that git uses: quick, since the patch is read once. */
const level = constants.Z_BEST_SPEED
/** The id by which git names a missing side. */
const NO_BLOB = '0'.repeat(40)

/** One version of a file. */
interface FileVersion {
  readonly fs: FileSystem
  readonly path: string
  readonly size: number
}

/**
 * Formats the change of a file as `git diff --binary` does: with both contents, so that git can apply and revert it.
 * Yields text that ends with a newline. Reads each content twice instead of keeping it in memory. EUNAVAILABLE if it
 * changes meanwhile.
 */
export async function* formatBinaryPatch(
  change: PathChange,
  { before, after }: TreePair,
  ctx: CallContext,
): AsyncGenerator<string> {
  const old = createVersion(before, change.from ?? change.path, change.before)
  const current = createVersion(after, change.path, change.after)
  const [oldId, newId] = [await hashBlob(old, ctx), await hashBlob(current, ctx)]
  const [note, header] = [formatModeNote(change), formatPatchHeader(change)]
  if (oldId === newId) {
    // Git rejects a header without content, modes and renames.
    const lines = header.length > 1 ? [...note, ...header] : note
    if (lines.length > 0) yield `${lines.join('\n')}\n`
    return
  }
  const isSameMode =
    old !== undefined && current !== undefined && !header.some((line) => /^old mode/.test(line))
  const index = `index ${oldId}..${newId}${isSameMode ? ` ${toGitMode(change.after)}` : ''}`
  yield `${[...note, ...header, index, 'GIT binary patch'].join('\n')}\n`
  yield* formatLiteral(current, newId, ctx)
  // The way back, for git apply -R.
  yield* formatLiteral(old, oldId, ctx)
}

function createVersion(fs: FileSystem, path: string, stat: Stat | undefined): FileVersion | undefined {
  return stat === undefined ? undefined : { fs, path, size: stat.size }
}

/** Returns the id that git gives this content. */
async function hashBlob(version: FileVersion | undefined, ctx: CallContext): Promise<string> {
  if (version === undefined) return NO_BLOB
  const hash = startBlobHash(version)
  for await (const chunk of version.fs.read(version.path, undefined, ctx)) hash.update(chunk)
  return hash.digest('hex')
}

function startBlobHash({ size }: FileVersion): ReturnType<typeof createHash> {
  return createHash('sha1').update(`blob ${size}\0`)
}

/** Formats a content as a whole; a missing one as an empty one. */
async function* formatLiteral(
  version: FileVersion | undefined,
  id: string,
  ctx: CallContext,
): AsyncGenerator<string> {
  yield `literal ${version?.size ?? 0}\n`
  const content = Readable.from(version === undefined ? [] : readBlob(version, id, ctx))
  // The iteration throws what the pipeline throws.
  yield* encodeBase85Lines(pipeline(content, createDeflate({ level }), () => {}))
  yield '\n'
}

/** Yields a content. EUNAVAILABLE at its end if it does not have the id. */
async function* readBlob(version: FileVersion, id: string, ctx: CallContext): AsyncGenerator<Uint8Array> {
  const hash = startBlobHash(version)
  for await (const chunk of version.fs.read(version.path, undefined, ctx)) {
    hash.update(chunk)
    yield chunk
  }
  if (hash.digest('hex') === id) return
  const detail = 'changed while its patch was written; run the command again'
  throw new VfsError('EUNAVAILABLE', version.path, { op: 'diff', detail })
}
