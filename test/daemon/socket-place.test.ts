import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { getSocketPath } from '../../src/daemon/client/index.ts'
import { root } from '../support/run-node.ts'

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

it.runIf(process.getuid?.() === 0)('ignores the runtime directory of another user, which su leaves', () => {
  const directory = scratch()
  const [home, runtime] = [homeIn(directory), join(directory, 'runtime')]
  mkdirSync(runtime)
  chownSync(runtime, 65_534, 65_534)
  expect(getSocketPath(home, { runtime, temporary: directory })).toBe(join(home, 'run/daemon.sock'))
  expect(existsSync(join(runtime, 'coppice'))).toBe(false)
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

it('finds the same socket by a long link to a home, which has room for it', () => {
  const directory = scratch()
  const home = homeIn(directory)
  const link = join(directory, 'l'.repeat(110))
  symlinkSync(home, link)
  expect(getSocketPath(link, { temporary: directory })).toBe(getSocketPath(home, { temporary: directory }))
})

it('ignores a relative runtime directory', () => {
  const directory = scratch()
  const home = homeIn(directory)
  const socket = join(home, 'run/daemon.sock')
  expect(getSocketPath(home, { runtime: 'relative', temporary: directory })).toBe(socket)
  expect(existsSync('relative')).toBe(false)
})

it('fails where no runtime directory can be created', () => {
  const directory = scratch()
  const [home, program] = [homeIn(directory), join(directory, 'program.ts')]
  const client = join(root, 'src/daemon/client/socket-path.ts')
  // A process of its own: a loop would never end.
  writeFileSync(
    program,
    `import { getSocketPath } from ${JSON.stringify(client)}
getSocketPath(${JSON.stringify(home)}, { runtime: '/proc/nope', temporary: ${JSON.stringify(directory)} })`,
  )
  const { signal, stderr } = spawnSync(process.execPath, ['--conditions=coppice-source', program], {
    encoding: 'utf8',
    timeout: 20_000,
  })
  expect(signal).toBeNull()
  expect(stderr).toContain("ENOENT: no such file or directory, mkdir '/proc/nope'")
})

it('refuses a link', () => {
  const directory = scratch()
  const home = homeIn(directory)
  const elsewhere = homeIn(directory, 'elsewhere')
  symlinkSync(elsewhere, join(home, 'run'))
  expect(() => getSocketPath(home, { temporary: directory })).toThrow('EACCES')
})
