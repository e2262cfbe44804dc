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
import { programFile } from './support/program-file.ts'
import { PATIENCE_MS, scaled } from './support/scale.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-damaged-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const contents = new Map(
  Array.from({ length: 60 }, (_, index) => [
    `file-${index}`,
    `${index} `.repeat(index % 3 === 0 ? 30_000 : 40),
  ]),
)
/** Files of a home to damage, one in each case: LevelDB has tables, a log and a manifest. */
const stores = [
  ['lmdb', /^store\.lmdb\/data\.mdb$/],
  ['sqlite', /^store\.db$/],
  ['level', /\.ldb$/],
  ['level', /\.log$/],
  ['level', /MANIFEST-/],
] as const
type Store = (typeof stores)[number]

beforeAll(async () => {
  for (const engine of new Set(stores.map(([name]) => name))) {
    const path = join(scratch, engine)
    const names = [...contents]
    for (const part of [names.slice(0, 40), names.slice(40)]) {
      // LevelDB writes its log as a table whenever it opens.
      await using home = await openHome({ path, engine })
      const vault = (await home.vaults()).includes('base')
        ? await home.vault('base')
        : await home.createVault('base')
      for (const [name, content] of part) await vault.write(`/${name}`, content)
    }
  }
})

/** Returns the largest matching file. */
function fileOf(home: string, [, pattern]: Store): string {
  const names = readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((name) => pattern.test(name))
  const files = names.map((name) => join(home, name))
  return files.toSorted((one, other) => statSync(other).size - statSync(one).size)[0] ?? ''
}

interface Outcome {
  readonly signal: string | null
  readonly read: { readonly code?: string; readonly message?: string; readonly damaged?: readonly unknown[] }
  readonly salvaged: { readonly code?: string; readonly lost?: readonly { path: string; detail: string }[] }
  readonly out: string
}

let count = 0

function damage(store: Store, change: (file: string) => void): Outcome {
  const path = join(scratch, `case-${count++}`)
  const out = `${path}-out`
  cpSync(join(scratch, store[0]), path, { recursive: true })
  change(fileOf(path, store))
  const script = programFile('read-damaged')
  const { signal, stdout, stderr } = spawnSync(process.execPath, [script, path, out], { encoding: 'utf8' })
  if (signal !== null) return { signal, read: {}, salvaged: {}, out }
  expect(stderr.replaceAll(/.*Warning.*\n/g, '')).toBe('')
  return { signal, ...JSON.parse(stdout), out }
}

/** Every returned file is as written, and every other one is reported or may be missing. */
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

describe.each(stores)('a store on %s, in %s', (...store) => {
  it('kills no process by a signal after truncation', { timeout: PATIENCE_MS }, () => {
    for (const part of parts) {
      const outcome = damage(store, (file) => truncateSync(file, Math.floor(statSync(file).size * part)))
      expect(outcome.signal).toBe(null)
      assertHonest(outcome)
    }
  })

  it('kills no process by a signal after overwritten pages', { timeout: PATIENCE_MS }, () => {
    for (const [index, part] of parts.entries()) {
      const garbage = Buffer.alloc(8192, index % 2 === 0 ? 0xff : 0x5a)
      const outcome = damage(store, (file) => {
        const at = Math.floor((statSync(file).size * part) / 4096) * 4096
        overwrite(file, at, garbage)
      })
      expect(outcome.signal).toBe(null)
      assertHonest(outcome)
    }
  })

  it('never returns wrong content after flipped bits', { timeout: PATIENCE_MS }, () => {
    for (const part of parts) {
      const outcome = damage(store, (file) => {
        const at = Math.floor(statSync(file).size * part)
        overwrite(file, at, Buffer.from([(readFileSync(file)[at] ?? 0) ^ 0x10]))
      })
      expect(outcome.signal).toBe(null)
      assertHonest(outcome)
    }
  })
})

/** True if the store did not open with advice, or fsck reported damage. */
function isReported({ read }: Outcome): boolean {
  const isNamed = read.code === 'EIO' && read.message?.includes('--salvage') === true
  return isNamed || (read.damaged?.length ?? 0) > 0
}

it('a truncated LMDB store is EIO, or damage that fsck names', () => {
  const outcome = damage(stores[0], (file) => truncateSync(file, Math.floor(statSync(file).size * 0.9)))
  expect(isReported(outcome)).toBe(true)
})

describe.each(stores.filter(([name]) => name === 'level'))('a store on %s, in %s', (...store) => {
  const changes: Readonly<Record<string, (file: string, at: number) => void>> = {
    'cut off': truncateSync,
    overwritten: (file, at) => overwrite(file, at, Buffer.alloc(64, 0x5a)),
    'flipped in one bit': (file, at) =>
      overwrite(file, at, Buffer.from([(readFileSync(file)[at] ?? 0) ^ 0x10])),
    removed: (file) => rmSync(file),
  }

  it.each(Object.keys(changes))('is reported and salvaged if it is %s', { timeout: PATIENCE_MS }, (name) => {
    for (const part of [0, 0.5, 0.99].slice(0, scaled(1, 3))) {
      const outcome = damage(store, (file) => changes[name]?.(file, Math.floor(statSync(file).size * part)))
      expect({ part, isReported: isReported(outcome), code: outcome.salvaged.code }).toMatchObject({
        part,
        isReported: true,
      })
      expect(outcome.salvaged.lost?.length ?? 1).toBeGreaterThan(0)
      assertHonest(outcome)
    }
  })
})

it('a file that does not fit is reported by salvage, and no part of it is left', async () => {
  const [path, out] = [join(scratch, 'limited'), join(scratch, 'limited-out')]
  const size = 600_000
  {
    await using home = await openHome({ path })
    await (await home.createVault('base')).write('/large', new Uint8Array(size))
  }
  const script = join(import.meta.dirname, 'support/read-damaged.ts')
  // Units of 512 bytes. The limit is inside the last chunk, so the system takes only a part of that write.
  const limited = `ulimit -f ${Math.floor(size / 512) - 1}; exec "$0" "$@"`
  const { stdout } = spawnSync('sh', ['-c', limited, process.execPath, script, path, out], {
    encoding: 'utf8',
  })
  expect(JSON.parse(stdout).salvaged.lost).toMatchObject([{ path: '/large' }])
  expect(readdirSync(out)).not.toContain('large')
})
