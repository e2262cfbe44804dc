import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { parseProcessTag } from '../../machine/index.ts'
import { removeReplacedFiles } from './replaced-files.ts'

it('files that are removed later belong to the program that does it, so that no other command waits for it', async () => {
  const home = mkdtempSync(join(tmpdir(), 'coppice-replaced-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const old = join(home, 'old')
  mkdirSync(old)
  for (let index = 0; index < 20; index++) writeFileSync(join(old, `f${index}`), 'x')
  let now = 0
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => (now += 3))
  removeReplacedFiles(home, old)
  clock.mockRestore()
  const owners = readdirSync(join(home, 'sessions')).map((name) => parseProcessTag(name)?.pid)
  expect(existsSync(old)).toBe(false)
  expect(owners).not.toContain(process.pid)
  expect(owners).not.toContain(undefined)
  await vi.waitFor(() => expect(readdirSync(join(home, 'sessions'))).toEqual([]))
})
