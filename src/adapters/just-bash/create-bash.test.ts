import { expect, it } from 'vitest'
import { MemoryFs } from '../../vfs/index.ts'
import { createBash } from './index.ts'
import { loadJustBash } from './load-just-bash.ts'

it('creates a shell that starts in the root or a given directory', async () => {
  const fs = new MemoryFs({ '/d/a': 'x' })
  expect((await (await createBash(fs)).exec('pwd; ls d')).stdout).toBe('/\na\n')
  expect((await (await createBash(fs, { cwd: '/d', env: { X: 'y' } })).exec('ls; echo $X')).stdout).toBe(
    'a\ny\n',
  )
})

it('says what to install if just-bash is missing', async () => {
  await expect(loadJustBash(() => Promise.reject(new Error('not found')))).rejects.toMatchObject({
    code: 'ENOTSUP',
    detail: "the package 'just-bash' is needed: npm install just-bash",
  })
})

it('rethrows errors that are no VfsErrors', async () => {
  const bash = await createBash(new MemoryFs(), {
    logger: {
      info: () => {
        throw new Error('no log')
      },
      debug: () => {},
    },
  })
  await expect(bash.exec('true')).rejects.toThrow('no log')
})
