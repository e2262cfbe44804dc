import { detectImageType, IMAGE_PROBE_BYTES, readFile, type Stat, VfsError } from '../../vfs/index.ts'
import type { TargetContext } from '../define-tool.ts'
import { recordVersion } from '../text/opened-text.ts'
import type { ImageOutput, ToolImage } from '../tool.ts'
import { statOpenableFile } from '../tool-target.ts'

/** Largest image: in base64 it takes 5 MiB, the limit of the providers of models. */
const MAX_IMAGE_BYTES = 3_932_160

/**
 * Reads an image of a format that models take. Undefined for another file; EINVAL if the image is too large for a
 * model.
 */
export async function readImage(targetContext: TargetContext): Promise<ImageOutput | undefined> {
  const {
    target: { fs, path },
    call: { ctx },
  } = targetContext
  const stat = await statOpenableFile(targetContext.target, ctx)
  const mimeType = detectImageType(await readFile(fs, path, { byteRange: [0, IMAGE_PROBE_BYTES] }, ctx))
  if (mimeType === undefined) return undefined
  assertImageSize(stat, path)
  await recordVersion(targetContext, stat)
  // One byte more than allowed shows that it grew meanwhile.
  const bytes = await readFile(fs, path, { byteRange: [0, MAX_IMAGE_BYTES + 1] }, ctx)
  assertImageSize({ size: bytes.length }, path)
  return toOutput(mimeType, bytes)
}

function assertImageSize({ size }: Pick<Stat, 'size'>, path: string): void {
  if (size <= MAX_IMAGE_BYTES) return
  const limit = MAX_IMAGE_BYTES.toLocaleString('en-US')
  const detail = `an image of ${size.toLocaleString('en-US')} bytes; models take up to ${limit}, so make a smaller copy and read that`
  throw new VfsError('EINVAL', path, { op: 'read', detail })
}

function toOutput(mimeType: string, bytes: Uint8Array): ImageOutput {
  const image: ToolImage = { mimeType, data: Buffer.from(bytes).toString('base64') }
  return { text: `(${mimeType}, ${bytes.length.toLocaleString('en-US')} bytes)`, image }
}
