import { expect, it } from 'vitest'
import { loadLangChain } from './load-langchain.ts'

it('says what to install if LangChain is missing', async () => {
  const loading = loadLangChain(() => Promise.reject(new Error('not found')))
  await expect(loading).rejects.toMatchObject({
    code: 'ENOTSUP',
    message: expect.stringContaining('npm install @langchain/core'),
  })
})
