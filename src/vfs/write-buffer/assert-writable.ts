import type { CallContext, FileSystem } from '../file-system.ts'

/** Error that ends a trial write before its first byte. */
class TrialWriteError extends Error {
  override readonly name = 'NothingMeant'
}

/**
 * Whether a file could be written, as the file system and every guard above it see it: rejects as a write would.
 * Nothing is written. A write is all or nothing, and this one's content fails before its first byte.
 */
export async function assertWritable(fs: FileSystem, path: string, ctx?: CallContext): Promise<void> {
  try {
    await fs.write(path, failImmediately(), { parents: false }, ctx)
  } catch (error) {
    if (!isTrialWriteError(error)) throw error
  }
}

// biome-ignore lint/correctness/useYield: it fails before there is anything to give
async function* failImmediately(): AsyncGenerator<Uint8Array> {
  throw new TrialWriteError()
}

/** A file system may wrap an error of its content. */
function isTrialWriteError(error: unknown): boolean {
  return (
    error instanceof TrialWriteError || (error instanceof Error && error.cause instanceof TrialWriteError)
  )
}
