import type { CallContext, FileSystem } from '../file-system.ts'

/** What the content of a trial ends with before it has begun. */
class NothingMeant extends Error {
  override readonly name = 'NothingMeant'
}

/**
 * Whether a file could be written, as the file system and every guard above it see it: rejects as a write would.
 * Nothing is written. A write is all or nothing, and this one's content fails before its first byte.
 */
export async function mayWrite(fs: FileSystem, path: string, ctx?: CallContext): Promise<void> {
  try {
    await fs.write(path, failing(), { parents: false }, ctx)
  } catch (error) {
    if (!isOurs(error)) throw error
  }
}

// biome-ignore lint/correctness/useYield: it fails before there is anything to give
async function* failing(): AsyncGenerator<Uint8Array> {
  throw new NothingMeant()
}

/** A file system may tell of a failure of its content in its own words. */
function isOurs(error: unknown): boolean {
  return error instanceof NothingMeant || (error instanceof Error && error.cause instanceof NothingMeant)
}
