import { hash } from 'node:crypto'
import { type CallContext, type FileSystem, isVfsError, readFile } from '../../vfs/index.ts'

const decoder = new TextDecoder()

/**
 * Changes a text that others may change concurrently. `change` receives the current text, or null, and its result
 * is written if the file is unchanged; otherwise `change` runs again. Returning null leaves the file as it is.
 */
export async function changeText(
  fs: FileSystem,
  path: string,
  change: (text: string | null) => string | null,
  ctx?: CallContext,
): Promise<void> {
  for (;;) {
    const bytes = await readIfPresent(fs, path, ctx)
    const changed = change(bytes === null ? null : decoder.decode(bytes))
    if (changed === null) return
    try {
      const ifMatch = bytes === null ? null : hash('sha256', bytes)
      return await fs.write(path, changed, { ifMatch }, ctx)
    } catch (error) {
      if (!isVfsError(error, 'ECONFLICT')) throw error
      ctx?.signal?.throwIfAborted()
    }
  }
}

/** Returns the text of a file; null if there is none. */
export async function readTextIfPresent(
  fs: FileSystem,
  path: string,
  ctx?: CallContext,
): Promise<string | null> {
  const bytes = await readIfPresent(fs, path, ctx)
  return bytes === null ? null : decoder.decode(bytes)
}

async function readIfPresent(fs: FileSystem, path: string, ctx?: CallContext): Promise<Uint8Array | null> {
  try {
    return await readFile(fs, path, undefined, ctx)
  } catch (error) {
    if (isVfsError(error, 'ENOENT')) return null
    throw error
  }
}
