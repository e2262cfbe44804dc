import { assertBytes, assertRejects } from '../assertions.ts'
import type { Case } from '../subject.ts'

export const readOnlyCases: readonly Case[] = [
  {
    name: 'a file system that cannot be written answers every mutation with EROFS',
    without: ['write'],
    run: async (fs) => {
      await assertRejects(() => fs.write('/lines.txt', 'x'), 'EROFS')
      await assertRejects(() => fs.write('/fresh.txt', 'x'), 'EROFS')
      await assertRejects(() => fs.mkdir('/fresh'), 'EROFS')
      await assertRejects(() => fs.remove('/lines.txt'), 'EROFS')
      await assertRejects(() => fs.remove('/docs', { recursive: true }), 'EROFS')
      await assertBytes(fs, '/lines.txt', 'one\ntwo\nthree\nfour\n')
    },
  },
  {
    name: 'a file system that can be written but has no directories of its own answers mkdir with ENOTSUP',
    needs: ['write'],
    without: ['mkdir'],
    run: (fs) => assertRejects(() => fs.mkdir('/fresh'), 'ENOTSUP'),
  },
]
