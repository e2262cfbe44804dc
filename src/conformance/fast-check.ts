import type * as FastCheck from 'fast-check'
import type { FileSystem } from '../vfs/index.ts'
import type { Subject } from './subject.ts'

export type FastCheckModule = typeof FastCheck

export const DEFAULT_RUNS = 50

/** Runs a test on a file system of its own. */
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

/** Loaded on use: an optional peer, needed by nobody who does not run the suite. */
export async function loadFastCheck(): Promise<FastCheckModule> {
  try {
    return await import('fast-check')
  } catch (cause) {
    throw new Error('the property tests need fast-check: npm install --save-dev fast-check', { cause })
  }
}
