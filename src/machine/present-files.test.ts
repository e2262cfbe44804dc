import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { hasEntries } from './present-files.ts'

it('finds out whether a directory has entries', () => {
  const directory = mkdtempSync(join(tmpdir(), 'coppice-entries-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const [empty, full] = [join(directory, 'empty'), join(directory, 'full')]
  mkdirSync(empty)
  mkdirSync(full)
  writeFileSync(join(full, '.hidden'), '')
  expect([hasEntries(empty), hasEntries(full), hasEntries(join(directory, 'gone'))]).toEqual([
    false,
    true,
    false,
  ])
  expect(() => hasEntries(join(full, '.hidden'))).toThrow(/ENOTDIR/)
})
