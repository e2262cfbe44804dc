import type * as FastCheck from 'fast-check'
import type { FileSystem } from '../vfs/index.ts'
import type { Subject } from './subject.ts'

export type FastCheckModule = typeof FastCheck

export const DEFAULT_RUNS = 50

/** Runs a test on a fresh file system. */
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

/** Loads fast-check on use: an optional peer, needed only to run the suite. */
export async function loadFastCheck(): Promise<FastCheckModule> {
  try {
    return await import('fast-check')
  } catch (cause) {
    throw new Error('the property tests need fast-check: npm install --save-dev fast-check', { cause })
  }
}
