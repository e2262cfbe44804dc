import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { formatForeignFilesHint } from './foreign-files.ts'

it.each([
  ['a word that is too long for a name', 'x'.repeat(300)],
  ['a path through a file', 'file/below'],
  ['a NUL character', 'a\0b'],
])('the hint about files of other users bears %s in the output', (_, word) => {
  const root = mkdtempSync(join(tmpdir(), 'coppice-foreign-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  writeFileSync(join(root, 'file'), '')
  const output = Buffer.from(`cp: ${word}: Value too large for defined data type\n`)
  expect(formatForeignFilesHint(output, root, '/')).toContain('belongs to another user or group')
  expect(formatForeignFilesHint(Buffer.from(`cp: ${word}: no such file\n`), root, '/')).toBeUndefined()
})
