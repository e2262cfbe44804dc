import { assertBytes, rejects } from '../expect.ts'
import type { Case } from '../subject.ts'

export const readOnlyCases: readonly Case[] = [
  {
    name: 'a file system that cannot be written answers every mutation with EROFS',
    without: ['write'],
    run: async (fs) => {
      await rejects(() => fs.write('/lines.txt', 'x'), 'EROFS')
      await rejects(() => fs.write('/fresh.txt', 'x'), 'EROFS')
      await rejects(() => fs.mkdir('/fresh'), 'EROFS')
      await rejects(() => fs.remove('/lines.txt'), 'EROFS')
      await rejects(() => fs.remove('/docs', { recursive: true }), 'EROFS')
      await assertBytes(fs, '/lines.txt', 'one\ntwo\nthree\nfour\n')
    },
  },
  {
    name: 'a file system that can be written but has no directories of its own answers mkdir with ENOTSUP',
    needs: ['write'],
    without: ['mkdir'],
    run: (fs) => rejects(() => fs.mkdir('/fresh'), 'ENOTSUP'),
  },
]
