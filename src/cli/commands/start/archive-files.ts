import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { SkippedEntry, UnpackReport } from '../../../backends/archive/index.ts'
import { HostFs } from '../../../backends/host/index.ts'
import { removeAbandonedFiles } from '../../../machine/index.ts'
import { type CallContext, errorCodes, type FileSystem, isVfsError, VfsError } from '../../../vfs/index.ts'
import type { ProgressUpdate } from '../../render/progress.ts'

export type ArchiveFormat = 'tar.gz' | 'tar.zst' | 'tar' | 'zip'

const formatPatterns: readonly (readonly [ArchiveFormat, RegExp])[] = [
  ['tar.gz', /\.(?:tar\.gz|tgz)$/i],
  ['tar.zst', /\.(?:tar\.zst|tzst)$/i],
  ['tar', /\.tar$/i],
  ['zip', /\.zip$/i],
]

/** Returns the archive format of a file name; undefined for any other file. */
export function detectArchiveFormat(file: string): ArchiveFormat | undefined {
  return formatPatterns.find(([, ending]) => ending.test(file))?.[0]
}

/** Endings of archives that export cannot write. */
const unsupportedEndings = /\.(?:tar\.(?:bz2|xz|lz4?|zst)|tbz2?|txz|tzst|7z|rar|gz|bz2|xz)$/i

/** Reports whether a name is that of an archive that export cannot write. */
export function isUnsupportedArchive(file: string): boolean {
  return detectArchiveFormat(file) !== 'tar.gz' && unsupportedEndings.test(file)
}

export interface ArchiveImport extends UnpackReport {
  readonly skipped: readonly SkippedEntry[]
}

/** Imports an archive of this machine into a directory of a file system. */
export async function importArchive(
  file: string,
  target: FileSystem,
  into: string,
  ctx: CallContext,
  onProgress: (progress: ProgressUpdate) => void,
): Promise<ArchiveImport> {
  // Loaded on use, with its packages.
  const { openTar, openZip, unpack } = await import('../../../backends/archive/index.ts')
  const skipped: SkippedEntry[] = []
  const onSkipped = (entry: SkippedEntry) => void skipped.push(entry)
  // From the root: a link may lead anywhere, and errors name the whole path.
  await using host = new HostFs('/')
  // The content of a compressed archive is read out of order, so it is unpacked to disk first.
  const scratch = await mkdtemp(join(tmpdir(), 'coppice-archive-'))
  try {
    const archive =
      detectArchiveFormat(file) === 'zip'
        ? await openZip(host, file, { onSkipped }, ctx)
        : await openTar(
            host,
            file,
            {
              onSkipped,
              scratch: { fs: host, path: join(scratch, 'content') },
              maxBytes: Number.POSITIVE_INFINITY,
            },
            ctx,
          )
    const report = ({ files, bytes }: UnpackReport) => onProgress({ done: files, bytes })
    return { ...(await unpack(archive, target, { into, onProgress: report }, ctx)), skipped }
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

export interface ArchiveExport {
  /** True if the archive may replace an existing file. */
  readonly overwrite: boolean
  readonly root: string
}

/**
 * Packs a directory of a file system into an archive file, which appears whole or not at all. Removes temporary files
 * of killed exports beside it.
 *
 * @param file an absolute path.
 */
export async function exportArchive(
  fs: FileSystem,
  file: string,
  { overwrite, root }: ArchiveExport,
  ctx: CallContext,
  onProgress: (progress: ProgressUpdate) => void,
): Promise<{ readonly files: number; readonly bytes: number }> {
  const { packTar, packZip } = await import('../../../backends/archive/index.ts')
  let files = 0
  const options = { root, onEntry: () => onProgress({ done: ++files }) }
  const format = detectArchiveFormat(file)
  const packed =
    format === 'zip' ? packZip(fs, options, ctx) : packTar(fs, { ...options, gzip: format === 'tar.gz' }, ctx)
  const path = `/${basename(file)}`
  // Confined to the directory: another user who may write there could plant a link of this name.
  await using host = new HostFs(dirname(file))
  removeAbandonedFiles(host.directory)
  try {
    await host.write(path, packed, { parents: false, ...(!overwrite && { ifMatch: null }) }, ctx)
  } catch (error) {
    throw isVfsError(error) && error.op === 'write' && error.path === path ? withFilePath(file, error) : error
  }
  return { files, bytes: (await host.stat(path, ctx)).size }
}

/** Returns the error with the whole path. It gets a detail, without which the CLI would advise about vault files. */
function withFilePath(file: string, { code, detail = errorCodes[code], cause }: VfsError): VfsError {
  return new VfsError(code, file, { op: 'export', detail, cause })
}
