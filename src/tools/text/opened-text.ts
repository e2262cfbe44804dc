import { hash as digest } from 'node:crypto'
import { hash, readFile, type Stat } from '../../vfs/index.ts'
import type { TargetContext } from '../define-tool.ts'
import { MAX_EDITABLE_BYTES } from '../tool-target.ts'

/** Files up to this size are read at once, which also gives their version. */
const MAX_WHOLE_BYTES = 256 * 1024

/** A text file to read, with its name for messages. */
export interface OpenedText {
  readonly chunks: AsyncIterable<Uint8Array>
  readonly displayPath: string
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
  const bytes = await readFile(fs, path, {}, ctx)
  targetContext.environment.reads.recordRead(displayPath, digest('sha256', bytes))
  return { chunks: streamBytes(bytes), displayPath }
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

async function* streamBytes(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes
}
