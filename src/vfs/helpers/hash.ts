import type { CallContext, FileSystem } from '../file-system.ts'
import { isContentAddressed } from '../protocols.ts'
import { createSha256 } from '../runtime.ts'

/**
 * Returns the SHA-256 of a file's content in hex, the value that `ifMatch` compares.
 *
 * @example
 * ```ts
 * const fs = new MemoryFs({ '/a.txt': 'one' })
 * await fs.write('/a.txt', 'two', { ifMatch: await hash(fs, '/a.txt') })
 * ```
 */
export async function hash(fs: FileSystem, path: string, ctx?: CallContext): Promise<string> {
  if (isContentAddressed(fs)) return fs.hash(path, ctx)
  const state = createSha256()
  for await (const chunk of fs.read(path, undefined, ctx)) state.update(chunk)
  return state.digest('hex')
}
