import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { openHostDirectory } from './host-directory.ts'
import { HostFile } from './host-file.ts'

const path = mkdtempSync(join(tmpdir(), 'host-file-'))
afterAll(() => rmSync(path, { recursive: true, force: true }))
writeFileSync(join(path, 'file'), 'content')
mkdirSync(join(path, 'directory'))
symlinkSync('file', join(path, 'link'))
execFileSync('sh', ['-c', 'mkfifo "$1"', 'sh', join(path, 'pipe')])

describe.each([true, false])('a file of the machine (by handle: %s)', (byHandle) => {
  const directory = openHostDirectory(path, byHandle)

  it('is opened and read', () => {
    const file = new HostFile(directory.at('file'))
    expect(file.readAll().toString()).toBe('content')
    file.close()
  })

  // What is looked at may be replaced before it is opened. A pipe would let us wait for its other end.
  it.each(['pipe', 'link', 'directory'])('is rejected if a %s has replaced it', (name) => {
    expect(() => new HostFile(directory.at(name))).toThrow(
      /^the file was replaced by a (pipe|link|directory) meanwhile$/,
    )
  })

  it('is read to its end if the system reports no size', () => {
    const file = new HostFile(openHostDirectory(`/proc/${process.pid}`, byHandle).at('status'))
    expect(file.readAll().length).toBeGreaterThan(100)
    file.close()
  })

  it('is not found through a directory that was replaced by a link', () => {
    const inner = directory.enter('directory')
    expect(() => directory.enter('link')).toThrow()
    expect(inner.enter('..').ino).toBe(directory.ino)
  })
})
