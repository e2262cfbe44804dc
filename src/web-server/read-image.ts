import {
  type CallContext,
  detectImageType,
  type FileSystem,
  IMAGE_PROBE_BYTES,
  readFile,
} from '../vfs/index.ts'
import type { WebImage } from '../web-api/index.ts'

/** Larger images are not shown. */
const MAX_IMAGE_BYTES = 8 * 1024 * 1024

/** Reads an image; null for any other file, and for one that is too large. ENOENT. */
export async function readImage(fs: FileSystem, path: string, ctx: CallContext): Promise<WebImage | null> {
  const { type, size } = await fs.stat(path, ctx)
  if (type !== 'file' || size > MAX_IMAGE_BYTES) return null
  const mimeType = detectImageType(await readFile(fs, path, { byteRange: [0, IMAGE_PROBE_BYTES] }, ctx))
  if (mimeType === undefined) return null
  // It may grow meanwhile; then the page reads it again.
  const bytes = await readFile(fs, path, { byteRange: [0, MAX_IMAGE_BYTES] }, ctx)
  return { mimeType, data: Buffer.from(bytes).toString('base64') }
}
