import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { readFile } from '../../../vfs/index.ts'
import { type Home, openHome } from '../index.ts'
import type { Vault } from '../vault.ts'

const KIB = 1024
/** Sizes on both sides of each limit of the store and of the thread. */
const SIZES = [0, 1, 256, 257, 4095, 4096, 32 * KIB, 32 * KIB + 1, 128 * KIB, 128 * KIB + 1, KIB * KIB + 1]
/** More files than an import reads without a thread. */
const SMALL_FILES = 2500
const FILES_PER_DIRECTORY = 50

const made: string[] = []

afterEach(() => {
  for (const directory of made.splice(0)) rmSync(directory, { recursive: true, force: true })
})

/** Creates small files in nested directories, and returns the directory with all their paths. */
function createTree(): { readonly directory: string; readonly files: string[] } {
  const directory = mkdtempSync(join(tmpdir(), 'read-ahead-'))
  made.push(directory)
  const files = Array.from({ length: SMALL_FILES }, (_, index) => {
    const number = Math.floor(index / FILES_PER_DIRECTORY)
    return `group-${number % 7}/part-${number}/file-${index}`
  })
  for (const path of files) writeInside(directory, path, `content of ${path}`)
  return { directory, files }
}

function writeInside(directory: string, path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(directory, path)), { recursive: true })
  writeFileSync(join(directory, path), content)
}

async function openEmptyVault(): Promise<{ readonly home: Home; readonly vault: Vault }> {
  const home = await openHome({ engine: 'memory' })
  return { home, vault: await home.createVault('v') }
}

describe('an import of thousands of files', () => {
  it('stores content, permissions and times of files and directories of all sizes', async () => {
    const { directory, files } = createTree()
    for (const [index, size] of [...SIZES, ...SIZES, ...SIZES].entries()) {
      const path = `group-${index % 7}/sized-${index}/file`
      writeInside(directory, path, randomBytes(size))
      chmodSync(join(directory, path), 0o640 + (index % 8))
      files.push(path)
    }
    for (const path of files) utimesSync(join(directory, dirname(path)), 1, path.length)
    const { home, vault } = await openEmptyVault()
    const report = await home.import(directory, 'v')
    expect(report).toMatchObject({ files: files.length, links: 0, unchanged: 0, skipped: [] })
    expect(report.bytes).toBe(files.reduce((sum, path) => sum + statSync(join(directory, path)).size, 0))
    for (const path of files) {
      const content = readFileSync(join(directory, path))
      expect(Buffer.from(await readFile(vault, `/${path}`)).equals(content)).toBe(true)
      expect((await vault.stat(`/${path}`)).mode).toBe(statSync(join(directory, path)).mode & 0o777)
      const parent = dirname(path)
      expect((await vault.stat(`/${parent}`)).mtime).toEqual(statSync(join(directory, parent)).mtime)
    }
    expect(await home.import(directory, 'v')).toMatchObject({ files: 0, unchanged: files.length })
    expect((await home.fsck()).damaged).toEqual([])
    await home.close()
  })

  it('stores the same content once, whether a thread reads it or not', async () => {
    const { directory } = createTree()
    const content = randomBytes(8 * KIB)
    for (let index = 0; index < 50; index++) writeInside(directory, `copies-${index}/copy`, content)
    const { home } = await openEmptyVault()
    await home.import(directory, 'v')
    const { blobs } = await home.stats()
    expect(blobs.bytes).toBe(content.length)
    await home.close()
  })

  it('never follows a link that takes the place of a file meanwhile', async () => {
    const { directory, files } = createTree()
    const secret = join(mkdtempSync(join(tmpdir(), 'secret-')), 'secret')
    made.push(dirname(secret))
    writeFileSync(secret, 'secret')
    let isReplaced = false
    const onProgress = ({ done }: { done: number }) => {
      if (done < 1200 || isReplaced) return
      isReplaced = true
      for (const path of files) {
        rmSync(join(directory, path))
        symlinkSync(secret, join(directory, path))
      }
    }
    const { home, vault } = await openEmptyVault()
    const report = await home.import(directory, 'v', { onProgress })
    expect(isReplaced).toBe(true)
    expect(report.files + report.links + report.skipped.length).toBe(files.length)
    for (const path of files) {
      if (!(await vault.exists(`/${path}`))) continue
      if ((await vault.stat(`/${path}`)).type === 'symlink') continue
      expect(Buffer.from(await readFile(vault, `/${path}`)).toString()).toBe(`content of ${path}`)
    }
    await home.close()
  })

  it('continues where it was stopped', async () => {
    const { directory, files } = createTree()
    const stop = new AbortController()
    const onProgress = ({ done }: { done: number }) => done > 1500 && stop.abort(new Error('enough'))
    const { home } = await openEmptyVault()
    await expect(home.import(directory, 'v', { signal: stop.signal, onProgress })).rejects.toThrow('enough')
    const { files: rest, unchanged } = await home.import(directory, 'v')
    expect(unchanged).toBeGreaterThan(1500)
    expect(rest + unchanged).toBe(files.length)
    await home.close()
  })
})
