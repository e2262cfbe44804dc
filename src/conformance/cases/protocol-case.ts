import assert from 'node:assert/strict'
import type { FileSystem } from '../../vfs/index.ts'
import type { Case } from '../subject.ts'

/**
 * Creates a case for file systems with a secondary protocol. It fails if the guard denies what the capabilities declare;
 * otherwise `run` gets the protocol's methods.
 */
export function createProtocolCase<Protocol>(
  name: string,
  guard: (fs: FileSystem) => fs is FileSystem & Protocol,
  needs: Case['needs'],
  run: (fs: FileSystem & Protocol) => Promise<void>,
): Case {
  return {
    name,
    ...(needs && { needs }),
    run: async (fs) => {
      assert.ok(guard(fs), 'the guard denies what the capabilities declare')
      await run(fs)
    },
  }
}
