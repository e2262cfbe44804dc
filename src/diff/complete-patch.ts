import { type CallContext, type PathChange, VfsError } from '../vfs/index.ts'
import { formatBinaryPatch } from './binary-patch.ts'
import { formatPatch, readChangedText, type TreePair } from './patch.ts'

/** Bytes of both contents that a patch in one string can have. */
const MAX_STRING_PATCH_BYTES = 64 * 1024 * 1024

/**
 * Formats one change as a patch that turns the old tree into the new one, binary files included. Yields text that ends
 * with a newline, and nothing if a patch has no line for the change. The memory it takes does not grow with a binary
 * file.
 */
export async function* formatCompletePatch(
  change: PathChange,
  trees: TreePair,
  ctx: CallContext,
): AsyncGenerator<string> {
  const text = await readChangedText(change, trees, ctx)
  const isOfFiles = [change.before, change.after].every((stat) => stat === undefined || stat.type === 'file')
  if (text.isBinary && isOfFiles) yield* formatBinaryPatch(change, trees, ctx)
  else
    yield formatPatch(text)
      .map((line) => `${line}\n`)
      .join('')
}

/** Returns the complete patch of one change as a string. EFBIG for contents of more than 64 MiB. */
export async function readCompletePatch(
  change: PathChange,
  trees: TreePair,
  ctx: CallContext,
): Promise<string> {
  const bytes = (change.before?.size ?? 0) + (change.after?.size ?? 0)
  if (bytes > MAX_STRING_PATCH_BYTES) {
    const detail = `the patch has ${bytes} bytes of content; the limit with --json is ${MAX_STRING_PATCH_BYTES}; leave out --json`
    throw new VfsError('EFBIG', change.path, { op: 'diff', detail })
  }
  return (await Array.fromAsync(formatCompletePatch(change, trees, ctx))).join('')
}
