import { spawnSync } from 'node:child_process'
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openHome } from '../src/backends/vault/index.ts'
import { PATIENCE_MS, scaled } from './support/scale.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-damaged-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const contents = new Map(
  Array.from({ length: 60 }, (_, index) => [
    `file-${index}`,
    `${index} `.repeat(index % 3 === 0 ? 30_000 : 40),
  ]),
)
const files = { sqlite: 'store.db', lmdb: 'store.lmdb/data.mdb' } as const
const engines = ['lmdb', 'sqlite'] as const

beforeAll(async () => {
  for (const engine of engines) {
    await using home = await openHome({ path: join(scratch, engine), engine })
    const vault = await home.createVault('base')
    for (const [name, content] of contents) await vault.write(`/${name}`, content)
  }
})

function fileOf(home: string, engine: (typeof engines)[number]): string {
  return join(home, files[engine])
}

interface Outcome {
  readonly signal: string | null
  readonly read: { readonly code?: string; readonly message?: string; readonly damaged?: readonly unknown[] }
  readonly salvaged: { readonly code?: string; readonly lost?: readonly { path: string; detail: string }[] }
  readonly out: string
}

let count = 0

function damage(engine: (typeof engines)[number], change: (file: string) => void): Outcome {
  const path = join(scratch, `case-${count++}`)
  const out = `${path}-out`
  cpSync(join(scratch, engine), path, { recursive: true })
  change(fileOf(path, engine))
  const script = join(import.meta.dirname, 'support/read-damaged.ts')
  const { signal, stdout, stderr } = spawnSync(process.execPath, [script, path, out], { encoding: 'utf8' })
  if (signal !== null) return { signal, read: {}, salvaged: {}, out }
  expect(stderr.replaceAll(/.*Warning.*\n/g, '')).toBe('')
  return { signal, ...JSON.parse(stdout), out }
}

/** Whatever was given back is as it was written; whatever was not is named, or all of it may be missing. */
function assertHonest({ salvaged, out }: Outcome): void {
  if (salvaged.code !== undefined) return
  const lost = salvaged.lost ?? []
  const given = readdirSync(out)
  for (const name of given) {
    if (contents.has(name)) expect(readFileSync(join(out, name), 'utf8')).toBe(contents.get(name))
    else expect(lost.length).toBeGreaterThan(0)
  }
  const isWhole = [...contents.keys()].every((name) => given.includes(name))
  if (!isWhole) expect(lost.length).toBeGreaterThan(0)
}

const parts = [0.4, 0.95, 0.01, 0.2, 0.6, 0.8].slice(0, scaled(1, 6))

function overwrite(file: string, at: number, bytes: Uint8Array): void {
  const content = readFileSync(file)
  content.set(bytes.subarray(0, Math.max(0, content.length - at)), at)
  writeFileSync(file, content)
}

describe.each(engines)('a store on %s', (engine) => {
  it('ends no process by a signal where it is cut off', { timeout: PATIENCE_MS }, () => {
    for (const part of parts) {
      const outcome = damage(engine, (file) => truncateSync(file, Math.floor(statSync(file).size * part)))
      expect(outcome.signal).toBe(null)
      assertHonest(outcome)
    }
  })

  it('ends no process by a signal where pages are overwritten', { timeout: PATIENCE_MS }, () => {
    for (const [index, part] of parts.entries()) {
      const garbage = Buffer.alloc(8192, index % 2 === 0 ? 0xff : 0x5a)
      const outcome = damage(engine, (file) => {
        const at = Math.floor((statSync(file).size * part) / 4096) * 4096
        overwrite(file, at, garbage)
      })
      expect(outcome.signal).toBe(null)
      assertHonest(outcome)
    }
  })

  it('never gives back wrong content where bits are flipped', { timeout: PATIENCE_MS }, () => {
    for (const part of parts) {
      const outcome = damage(engine, (file) => {
        const at = Math.floor(statSync(file).size * part)
        overwrite(file, at, Buffer.from([(readFileSync(file)[at] ?? 0) ^ 0x10]))
      })
      expect(outcome.signal).toBe(null)
      assertHonest(outcome)
    }
  })
})

it('an LMDB store that is cut off is EIO, or damage that fsck names', () => {
  const outcome = damage('lmdb', (file) => truncateSync(file, Math.floor(statSync(file).size * 0.9)))
  const isNamed = outcome.read.code === 'EIO' && outcome.read.message?.includes('--salvage') === true
  expect(isNamed || (outcome.read.damaged?.length ?? 0) > 0).toBe(true)
})
