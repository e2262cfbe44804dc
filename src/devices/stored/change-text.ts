import { hash } from 'node:crypto'
import { type CallContext, type FileSystem, isVfsError, readFile } from '../../vfs/index.ts'

const decoder = new TextDecoder()

/**
 * Changes a text that others may change at the same time. What is there is given to `change`, null for nothing, and
 * what that returns is written if nobody else wrote meanwhile; else it is asked again. Null leaves things as they are.
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

/** The text of a file; null where there is none. */
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
