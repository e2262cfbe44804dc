import type * as FastCheck from 'fast-check'
import type { FileSystem } from '../vfs/index.ts'
import type { Subject } from './subject.ts'

export type FastCheckModule = typeof FastCheck

/** Number of random inputs for a property of a subject without `runs`. */
export const DEFAULT_RUNS = 50

/** Runs a test on a new, empty file system, and disposes of it. */
export async function withFreshFileSystem(
  subject: Subject,
  test: (fs: FileSystem) => Promise<void>,
): Promise<void> {
  const fs = await subject.create({})
  try {
    await test(fs)
  } finally {
    await subject.dispose?.(fs)
  }
}

/** Loads fast-check, an optional peer dependency. Throws an Error with the command that installs it. */
export async function loadFastCheck(): Promise<FastCheckModule> {
  try {
    return await import('fast-check')
  } catch (cause) {
    throw new Error('the property tests need fast-check: npm install --save-dev fast-check', { cause })
  }
}
