import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { makePrivateDirectory, makePrivateFile } from './index.ts'

const modeOf = (path: string): number => statSync(path).mode & 0o7777

function scratch(): string {
  const directory = mkdtempSync(join(tmpdir(), 'coppice-private-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

describe.each([0o000, 0o022, 0o377])('under umask %o', (mask) => {
  it('a private directory and its missing parents are open to the owner alone', () => {
    const directory = scratch()
    const before = process.umask(mask)
    onTestFinished(() => void process.umask(before))
    makePrivateDirectory(join(directory, 'a/b'))
    expect(['a', 'a/b'].map((name) => modeOf(join(directory, name)))).toEqual([0o700, 0o700])
  })

  it('a private file is open to the owner alone', () => {
    const file = join(scratch(), 'f')
    const before = process.umask(mask)
    onTestFinished(() => void process.umask(before))
    expect(makePrivateFile(file)).toBe(true)
    expect(modeOf(file)).toBe(0o600)
  })
})

it('existing directories and files keep their permissions', () => {
  const directory = scratch()
  chmodSync(directory, 0o755)
  makePrivateDirectory(directory)
  expect(modeOf(directory)).toBe(0o755)
  const file = join(directory, 'f')
  makePrivateFile(file)
  chmodSync(file, 0o644)
  expect(makePrivateFile(file)).toBe(false)
  expect(modeOf(file)).toBe(0o644)
})
