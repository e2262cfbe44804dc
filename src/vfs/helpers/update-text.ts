import { isVfsError, VfsError } from '../error.ts'
import type { CallContext, FileSystem } from '../file-system.ts'
import { readFile } from './file-content.ts'
import { hashBytes } from './hash.ts'

/**
 * Changes a text file: `change` gives the new text for the old, or throws to leave it. Two at once lose nothing: what
 * somebody else wrote in between is read, and changed again. EINVAL if the file is not UTF-8.
 */
export async function updateText(
  fs: FileSystem,
  path: string,
  change: (text: string) => string,
  ctx?: CallContext,
): Promise<void> {
  for (;;) {
    const bytes = await readFile(fs, path, undefined, ctx)
    const changed = change(decodeText(bytes, path))
    try {
      return await fs.write(path, changed, { ifMatch: hashBytes(bytes) }, ctx)
    } catch (error) {
      if (!isVfsError(error, 'ECONFLICT')) throw error
      ctx?.signal?.throwIfAborted()
    }
  }
}

function decodeText(bytes: Uint8Array, path: string): string {
  try {
    // The byte order mark is part of the text: it is written back.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new VfsError('EINVAL', path, { op: 'update', detail: 'the file is not UTF-8 text', cause })
  }
}
