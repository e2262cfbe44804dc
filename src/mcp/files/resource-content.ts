import { escapeUnprintable, toUri } from '../../tools/index.ts'
import {
  basename,
  type CallContext,
  type FileSystem,
  isVfsError,
  readFile,
  VfsError,
} from '../../vfs/index.ts'
import { DIRECTORY_TYPE, findMimeType } from './mime-types.ts'

/** Limit of a resource, which is sent whole in one message. */
const MAX_BYTES = 8 * 1024 * 1024
const MAX_ENTRIES = 10_000

/** Content of a resource: text, or bytes if it is not text. */
export type ResourceContent =
  | { readonly mimeType: string; readonly text: string }
  | { readonly mimeType: string; readonly blob: string }

/**
 * Reads a file, or the names in a directory; links are followed. VfsError; EINVAL, with what to do
 * instead, if it is too large.
 */
export async function readResource(fs: FileSystem, path: string, ctx: CallContext): Promise<ResourceContent> {
  const { type } = await fs.stat(path, ctx)
  if (type === 'directory') return readListing(fs, path, ctx)
  if (type === 'other') throw createReadError(path, 'a pipe, socket or device is not a file')
  try {
    return await readFileContent(fs, path, ctx)
  } catch (error) {
    if (type !== 'symlink') throw error
    if (isVfsError(error, 'EISDIR')) return await readListing(fs, path, ctx)
    if (!isVfsError(error, 'ENOENT')) throw error
    throw new VfsError('ENOENT', path, { op: 'read', detail: 'the link leads to a missing file' })
  }
}

async function readFileContent(fs: FileSystem, path: string, ctx: CallContext): Promise<ResourceContent> {
  const bytes = await readFile(fs, path, { byteRange: [0, MAX_BYTES + 1] }, ctx)
  if (bytes.length > MAX_BYTES) {
    const advice = `read it in parts with the tools file_lines and file_grep, as ${toUri(path)}`
    throw createReadError(path, `larger than ${MAX_BYTES / 1024 / 1024} MiB; ${advice}`)
  }
  const mimeType = findMimeType(basename(path))
  const text = decodeText(bytes)
  if (text !== undefined) return { mimeType: mimeType ?? 'text/plain', text }
  return { mimeType: mimeType ?? 'application/octet-stream', blob: Buffer.from(bytes).toString('base64') }
}

async function readListing(fs: FileSystem, path: string, ctx: CallContext): Promise<ResourceContent> {
  return { mimeType: DIRECTORY_TYPE, text: await formatNames(fs, path, ctx) }
}

async function formatNames(fs: FileSystem, path: string, ctx: CallContext): Promise<string> {
  const lines: string[] = []
  for await (const { name, type } of fs.readdir(path, ctx)) {
    if (lines.length === MAX_ENTRIES)
      return [...lines, '… and more; list it with the tool file_glob'].join('\n')
    const line = escapeUnprintable(name)
    lines.push(type === 'directory' ? `${line}/` : line)
  }
  return lines.join('\n')
}

/** Decodes text; undefined if it is not text, so that writing it back changes no byte. */
function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function createReadError(path: string, detail: string): VfsError {
  return new VfsError('EINVAL', path, { op: 'read', detail })
}
