import type { CallContext, FileSystem } from '../file-system.ts'

/** Error that ends a trial write before its first byte. */
class TrialWriteError extends Error {
  override readonly name = 'TrialWriteError'
}

/**
 * Rejects as a write to the file would, including the guards above. Nothing is written: a write is atomic, and this
 * one's content fails before its first byte.
 */
export async function assertWritable(fs: FileSystem, path: string, ctx?: CallContext): Promise<void> {
  try {
    await fs.write(path, failImmediately(), { parents: false }, ctx)
  } catch (error) {
    if (!isTrialWriteError(error)) throw error
  }
}

// biome-ignore lint/correctness/useYield: it throws before it yields
async function* failImmediately(): AsyncGenerator<Uint8Array> {
  throw new TrialWriteError()
}

/** Checks the cause too, because a file system may wrap an error of its content. */
function isTrialWriteError(error: unknown): boolean {
  return (
    error instanceof TrialWriteError || (error instanceof Error && error.cause instanceof TrialWriteError)
  )
}
