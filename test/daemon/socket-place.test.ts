import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { getSocketPath } from '../../src/daemon/client/index.ts'

function scratch(): string {
  const directory = mkdtempSync(join(tmpdir(), 'sock-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

function homeIn(directory: string, name = 'home'): string {
  const home = join(directory, name)
  mkdirSync(home, { recursive: true })
  return home
}

it('puts the socket into the runtime directory, else into the home, always in a private directory', () => {
  const directory = scratch()
  const home = homeIn(directory)
  const runtime = join(directory, 'runtime')
  const first = getSocketPath(home, { runtime, temporary: directory })
  expect(dirname(first)).toBe(join(runtime, 'coppice'))
  expect(getSocketPath(homeIn(directory, 'other'), { runtime, temporary: directory })).not.toBe(first)
  const second = getSocketPath(home, { temporary: directory })
  expect(second).toBe(join(home, 'run/daemon.sock'))
  for (const socket of [first, second]) expect(statSync(dirname(socket)).mode & 0o777).toBe(0o700)
  chmodSync(dirname(second), 0o777)
  getSocketPath(home, { temporary: directory })
  expect(statSync(dirname(second)).mode & 0o777).toBe(0o700)
})

it('finds the same socket for every path of a home, and a short path for a long one', () => {
  const directory = scratch()
  const home = homeIn(directory, 'deep/'.repeat(30))
  const link = join(directory, 'link')
  symlinkSync(home, link)
  const socket = getSocketPath(home, { temporary: directory })
  expect(Buffer.byteLength(socket)).toBeLessThan(104)
  expect(dirname(dirname(socket))).toBe(directory)
  const runtime = join(directory, 'runtime')
  expect(getSocketPath(link, { runtime, temporary: directory })).toBe(
    getSocketPath(home, { runtime, temporary: directory }),
  )
})

it('refuses a directory of another user', () => {
  const directory = scratch()
  const home = homeIn(directory)
  const elsewhere = homeIn(directory, 'elsewhere')
  symlinkSync(elsewhere, join(home, 'run'))
  expect(() => getSocketPath(home, { temporary: directory })).toThrow('EACCES')
})
