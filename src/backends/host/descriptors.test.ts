import { execFileSync } from 'node:child_process'
import * as host from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readText } from '../../vfs/index.ts'
import { HostFs } from './index.ts'

const ROUNDS = 200
const MAX_TURNS = 1000

let root: string
let fs: HostFs

beforeEach(async () => {
  root = host.mkdtempSync(join(host.realpathSync(tmpdir()), 'host-descriptors-'))
  fs = new HostFs(root)
})

afterEach(async () => {
  await fs.close()
  host.rmSync(root, { recursive: true, force: true })
})

/** What this process has open at or below the root. */
function openInRoot(): string[] {
  return host.readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = host.readlinkSync(`/proc/self/fd/${fd}`)
      return path.startsWith(root) ? [path] : []
    } catch {
      // The descriptor the listing itself used.
      return []
    }
  })
}

async function* broken(): AsyncGenerator<string> {
  yield 'some'
  throw new Error('broken source')
}

/** Each operation of the file system, in ways that succeed and in ways that fail. */
function everyOperation(): Promise<unknown>[] {
  const aborted = AbortSignal.abort()
  return [
    fs.stat('/d/f'),
    fs.stat('/d/missing/deeper'),
    fs.exists('/d/f/below'),
    readText(fs, '/d/f'),
    readText(fs, '/link/f'),
    readText(fs, '/missing'),
    readText(fs, '/d'),
    readText(fs, '/pipe'),
    readText(fs, '/out/passwd'),
    readText(fs, '/circle/x'),
    readText(fs, '/d/f', { chunkSize: 0 }),
    readText(fs, '/d/f', {}, { signal: aborted }),
    Array.fromAsync(fs.readdir('/d')),
    Array.fromAsync(fs.readdir('/d/f')),
    Array.fromAsync(fs.readdir('/out')),
    Array.fromAsync(fs.walk('/', { includeDirs: true })),
    Array.fromAsync(fs.walk('/missing')),
    fs.write('/d/sub/new', 'x'),
    fs.write('/d/sub/new', broken()),
    fs.write('/d/f/below', 'x'),
    fs.write('/d', 'x'),
    fs.write('/d/f', 'x', { ifMatch: 'other' }),
    fs.write('/out/new', 'x'),
    fs.append('/d/log', 'x'),
    fs.append('/d', 'x'),
    fs.mkdir('/d'),
    fs.mkdir('/made/below', { parents: true, mode: 0o700 }),
    fs.mkdir('/missing/below'),
    fs.symlink('f', '/d/f'),
    fs.readlink('/link'),
    fs.readlink('/d'),
    fs.rename('/d/log', '/d/log2', { overwrite: true }),
    fs.rename('/d', '/d/sub/below'),
    fs.rename('/missing', '/d/x'),
    fs.remove('/made', { recursive: true }),
    fs.remove('/d'),
    fs.remove('/missing'),
  ]
}

describe.runIf(process.platform === 'linux')('descriptors', () => {
  it('are closed after thousands of operations, failed ones included', async () => {
    await fs.write('/d/f', 'content')
    await fs.symlink('d', '/link')
    await fs.symlink('/etc', '/out')
    await fs.symlink('circle', '/circle')
    execFileSync('sh', ['-c', 'mkfifo "$0"', join(root, 'pipe')])
    for (let round = 0; round < ROUNDS; round++) await Promise.allSettled(everyOperation())
    expect(openInRoot()).toEqual([root])
    await fs.close()
    expect(openInRoot()).toEqual([])
  })

  it('are closed when a reader leaves early, or before its first step', async () => {
    await fs.write('/f', new Uint8Array(1_000_000))
    for await (const chunk of fs.read('/f')) {
      expect(chunk).toHaveLength(64 * 1024)
      expect(openInRoot()).toContain(`${root}/f`)
      break
    }
    await fs.read('/f')[Symbol.asyncIterator]().return?.()
    expect(openInRoot()).toEqual([root])
  })

  it('are closed when a walk is left in the middle', async () => {
    await fs.write('/a/b/c/f', '')
    for await (const { path } of fs.walk('/')) {
      expect(path).toBe('/a/b/c/f')
      expect(openInRoot()).toHaveLength(5)
      break
    }
    expect(openInRoot()).toEqual([root])
  })

  it('are closed by the garbage collector for an abandoned stream', async () => {
    await fs.write('/f', 'x')
    for (let count = 0; count < 50; count++) fs.read('/f')
    setFlagsFromString('--expose-gc')
    const collectGarbage: unknown = runInNewContext('gc')
    for (let turn = 0; turn < MAX_TURNS && openInRoot().length > 1; turn++) {
      if (typeof collectGarbage === 'function') collectGarbage()
      await nextTurn()
    }
    expect(openInRoot()).toEqual([root])
  })
})
