import { createHash, hash as digest } from 'node:crypto'
import type { CallContext, FileSystem } from '../file-system.ts'
import { isContentAddressed } from '../protocols.ts'

/** Returns the SHA-256 of a file's content in hex, the value that `ifMatch` compares. */
export async function hash(fs: FileSystem, path: string, ctx?: CallContext): Promise<string> {
  if (isContentAddressed(fs)) return fs.hash(path, ctx)
  const state = createHash('sha256')
  for await (const chunk of fs.read(path, undefined, ctx)) state.update(chunk)
  return state.digest('hex')
}

export function hashBytes(bytes: Uint8Array): string {
  return digest('sha256', bytes)
}
