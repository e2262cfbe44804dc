import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { TaggedDirectory } from '../../machine/index.ts'
import { ForkCopies } from './fork-copies.ts'

it('the copies of a command whose changes are stored later wait for that', async () => {
  const home = mkdtempSync(join(tmpdir(), 'coppice-copies-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const copies = new ForkCopies(home, async () => ['fix'])
  const record = TaggedDirectory.create(join(home, 'sessions'))
  const opened = await copies.open(undefined)
  writeFileSync(join(opened.path, 'login'), 'token')
  record.writeRecord({ fork: 'fix', copies: basename(opened.path) })
  await opened[Symbol.asyncDispose]()
  copies.adopt(basename(opened.path), 'fix')
  expect(existsSync(join(home, 'copies/fix/login'))).toBe(true)

  const other = await copies.open(undefined)
  await other[Symbol.asyncDispose]()
  expect(existsSync(other.path)).toBe(false)
})
