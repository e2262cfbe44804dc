import { hash, isVfsError, readFile, type Stat } from '../../vfs/index.ts'
import type { TargetContext } from '../define-tool.ts'
import { MAX_EDITABLE_BYTES, statOpenableFile } from '../tool-target.ts'
import type { OpenedText } from './line-stream.ts'
import { type RecentContent, RecentContents } from './recent-contents.ts'

/** Files up to this size are read at once, which also gives their version. */
const MAX_WHOLE_BYTES = 256 * 1024

/** Shared by all readers: each compares it with bytes that it has read itself. */
const recentContents = new RecentContents()

/** A text file that is in memory. */
export interface WholeText extends OpenedText {
  readonly content: RecentContent
}

/** Opens a text file and records that the reader has seen this version. */
export async function openText(targetContext: TargetContext, stat: Stat): Promise<OpenedText> {
  const {
    target: { fs, path, displayPath },
    call: { ctx },
  } = targetContext
  if (stat.size > MAX_WHOLE_BYTES) {
    await recordVersion(targetContext, stat)
    return { chunks: fs.read(path, {}, ctx), displayPath }
  }
  return openWhole(targetContext, await readFile(fs, path, {}, ctx))
}

/** Does what `openText` does, without a stat of a small file. EISDIR, EINVAL if it is not a file. */
export async function openFileText(
  targetContext: TargetContext,
): Promise<(OpenedText | WholeText) & { readonly size: number }> {
  const {
    target,
    call: { ctx },
  } = targetContext
  try {
    const bytes = await readFile(target.fs, target.path, { byteRange: [0, MAX_WHOLE_BYTES + 1] }, ctx)
    if (bytes.length <= MAX_WHOLE_BYTES) return { ...openWhole(targetContext, bytes), size: bytes.length }
  } catch (error) {
    // Its error says more about a directory or a pipe.
    if (isVfsError(error)) await statOpenableFile(target, ctx)
    throw error
  }
  const stat = await statOpenableFile(target, ctx)
  return { ...(await openText(targetContext, stat)), size: stat.size }
}

/** Records the version before it is read: if the file changes in between, an edit is refused. */
export async function recordVersion(targetContext: TargetContext, { size }: Stat): Promise<void> {
  const {
    target: { fs, path, displayPath },
    environment,
    call: { ctx },
  } = targetContext
  if (size <= MAX_EDITABLE_BYTES) environment.reads.recordRead(displayPath, await hash(fs, path, ctx))
}

function openWhole({ target, environment }: TargetContext, bytes: Uint8Array): WholeText {
  const { displayPath } = target
  const content = recentContents.get(displayPath, bytes)
  environment.reads.recordRead(displayPath, content.version)
  return { content, chunks: [bytes], displayPath }
}
