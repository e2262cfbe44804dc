import { expect, it } from 'vitest'
import { MemoryFs } from '../../vfs/index.ts'
import { defaultServers } from './language-servers.ts'
import { findMainServer } from './main-language.ts'

function find(files: Record<string, string>) {
  const ctx = {
    pid: 1,
    caller: { kind: 'system' },
    fs: new MemoryFs({ '/workspace/README.md': '', ...files }),
    signal: new AbortController().signal,
  } as const
  return findMainServer(defaultServers, '/workspace', ctx)
}

it('the language of most files of a workspace decides, whatever others brought with them', async () => {
  const files = { '/workspace/a.ts': '', '/workspace/b.ts': '', '/workspace/c.go': '' }
  const brought = Object.fromEntries([1, 2, 3].map((at) => [`/workspace/node_modules/x/${at}.py`, '']))
  expect(await find({ ...files, ...brought })).toMatchObject({ name: 'typescript-language-server' })
  await expect(find({})).rejects.toMatchObject({ code: 'ENOTSUP' })
})
