import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { errorCodes } from '../src/public/vfs.ts'
import { root } from './support/run-node.ts'

it('docs/errors.md documents every error code with its message, and no other', () => {
  const page = readFileSync(join(root, 'docs/errors.md'), 'utf8')
  const documented = [...page.matchAll(/^\| `(E[A-Z]+)` \| ([^|]+) \|/gm)].map(([, code, words]) => [
    code,
    words?.trim(),
  ])
  expect(Object.fromEntries(documented)).toEqual(errorCodes)
})
