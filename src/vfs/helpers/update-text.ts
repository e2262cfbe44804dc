import { isVfsError, VfsError } from '../error.ts'
import type { CallContext, FileSystem } from '../file-system.ts'
import { sha256 } from '../runtime.ts'
import { readFile } from './file-content.ts'

/**
 * Changes a text file. `change` returns the new text for the old, or throws to leave the file unchanged. On a conflict
 * with another writer it reads and changes the file again, so no update is lost. Throws EINVAL if the file is not
 * UTF-8.
 *
 * @example
 * ```ts
 * const fs = new MemoryFs({ '/a.txt': 'one' })
 * await updateText(fs, '/a.txt', (text) => text.toUpperCase())
 * assert.equal(await readText(fs, '/a.txt'), 'ONE')
 * ```
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
      return await fs.write(path, changed, { ifMatch: sha256(bytes) }, ctx)
    } catch (error) {
      if (!isVfsError(error, 'ECONFLICT')) throw error
      ctx?.signal?.throwIfAborted()
    }
  }
}

function decodeText(bytes: Uint8Array, path: string): string {
  try {
    // Keeps the byte order mark, which is written back with the text.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new VfsError('EINVAL', path, {
      op: 'update',
      detail: 'the file is not UTF-8 text; replace it with a write',
      cause,
    })
  }
}
