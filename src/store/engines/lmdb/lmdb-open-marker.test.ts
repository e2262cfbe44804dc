import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findDamage } from './lmdb-check.ts'
import { LmdbEngine } from './lmdb-engine.ts'

const PAGE_BYTES = 4096
/** More than an open looks at, each on a page of its own. */
const ROWS = 2500

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'coppice-marker-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const listMarkers = () => readdirSync(join(directory, 'open'))

/** Runs a body with `engine` open in another process; how that ended. */
function inProcess(body: string): { signal: string | null; stderr: string } {
  const file = JSON.stringify(new URL('./lmdb-engine.ts', import.meta.url).href)
  const script = `
    const { LmdbEngine } = await import(${file})
    const engine = await LmdbEngine.open({ directory: ${JSON.stringify(directory)} })
    ${body}`
  const flags = ['--conditions=coppice-source', '--input-type=module', '-e', script]
  const { signal, stderr } = spawnSync(process.execPath, flags, { encoding: 'utf8' })
  return { signal, stderr }
}

const KILLED = "process.kill(process.pid, 'SIGKILL')"

/** A store with a damaged page behind those that an open looks at. */
async function damageDeepPage(): Promise<void> {
  const file = join(directory, 'data.mdb')
  const engine = await LmdbEngine.open({ directory })
  const pages = Array.from({ length: ROWS }, (_, id) => ({ id: id + 1, bytes: Buffer.alloc(2000, 'row') }))
  engine.commit({ pages })
  await engine.close()
  const bytes = readFileSync(file)
  for (let at = bytes.length - PAGE_BYTES; at > 0; at -= PAGE_BYTES) {
    const damaged = Buffer.from(bytes)
    damaged.fill(0xff, at + 16, at + PAGE_BYTES)
    writeFileSync(file, damaged)
    if (findDamage(file).length > 0 && findDamage(file, 1000).length === 0) return
  }
  throw new Error('every page is among the first')
}

describe('the marker of an open LMDB store', () => {
  it('goes when the store is closed, or its process ends by itself', async () => {
    const engine = await LmdbEngine.open({ directory })
    expect(listMarkers()).toHaveLength(1)
    await engine.close()
    expect(listMarkers()).toEqual([])
    expect(inProcess('process.exit()')).toEqual({ signal: null, stderr: '' })
    expect(inProcess("process.nextTick(() => { throw new Error('failed') })").stderr).toContain('failed')
    expect(listMarkers()).toEqual([])
  })

  it('of a killed process goes when the store was found sound', async () => {
    await using open = await LmdbEngine.open({ directory })
    expect(inProcess(KILLED).signal).toBe('SIGKILL')
    expect(listMarkers()).toHaveLength(2)
    await using _next = await LmdbEngine.open({ directory })
    expect(listMarkers()).toHaveLength(2)
    expect(open.commit({})).toBe(true)
  })

  it('has all pages checked, so that damage ends no second process', async () => {
    await damageDeepPage()
    const readAll = `for (let id = 1; id <= ${ROWS}; id++) engine.readPage(id)`
    // The library may or may not survive this one.
    expect(inProcess(`try { ${readAll} } finally { ${KILLED} }`).signal).not.toBe(null)
    const { signal, stderr } = inProcess(readAll)
    expect(signal).toBe(null)
    expect(stderr).toMatch(/EIO: the store .* is damaged: page \d+ is damaged; .*--salvage/)
    await expect(LmdbEngine.open({ directory })).rejects.toMatchObject({ code: 'EIO' })
  })
})
