import { globSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { root, runNode } from './support/run-node.ts'

describe('the examples', () => {
  const examples = globSync('examples/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'))

  it.each(examples)('%s runs and asserts its own results', async (file) => {
    const run = await runNode([file], { isBuilt: true })
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(run.stdout).not.toBe('')
  })
})
