import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { afterAll, describe, expect, it } from 'vitest'
import { isVfsError } from '../../../vfs/index.ts'
import { row } from '../suite-rows.ts'
import { LevelEngine } from './level-engine.ts'
import { findTableDamage } from './level-table.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-level-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

let places = 0
const place = () => join(scratch, `home-${++places}`)

/** Runs a body that may `open()` the engine on a directory in another process, and gives what it printed. */
function inAnotherProcess(directory: string, body: string, limits = ''): { stdout: string; signal: unknown } {
  const file = JSON.stringify(new URL('./level-engine.ts', import.meta.url).href)
  const script = `
    import { writeSync } from 'node:fs'
    const { LevelEngine } = await import(${file})
    const open = () => LevelEngine.open({ directory: ${JSON.stringify(directory)} })
    ${body}`
  const node = [process.execPath, '--conditions=coppice-source', '--input-type=module', '-e', script]
  const shell = ['-c', `${limits} exec "$@"`, 'sh', ...node]
  const { stdout, stderr, signal } = spawnSync('sh', shell, { encoding: 'utf8', timeout: 20_000 })
  expect(stderr).toBe('')
  return { stdout, signal }
}

describe('the level engine', () => {
  it('answers reads at once, and an empty value apart from none', async () => {
    await using engine = await LevelEngine.open({ directory: place() })
    await engine.commit({ pages: [{ id: 1, bytes: new Uint8Array(0) }], journal: [row(1, 1)] })
    expect([engine.readPage(1), engine.readPage(2)]).toEqual([Buffer.alloc(0), undefined])
    expect(engine.readJournal(1, 0, 10)).toHaveLength(1)
    expect(engine.readJournal(1, 1, 10)).toEqual([])
  })

  it('takes batches in the order in which they come, and closes behind the last', async () => {
    const directory = place()
    const engine = await LevelEngine.open({ directory })
    const seqs = Array.from({ length: 50 }, (_, index) => index + 1)
    const answers = seqs.map((seq) => engine.commit({ journal: [row(1, seq)] }))
    await engine.close()
    expect(await Promise.all(answers)).toEqual(seqs.map(() => true))
    await using again = await LevelEngine.open({ directory })
    expect(await again.readJournal(1, 0, 100)).toHaveLength(50)
  })

  it('opens once at a time, and says so to a second caller', async () => {
    const directory = place()
    const engine = await LevelEngine.open({ directory })
    const here = LevelEngine.open({ directory: join(directory, '..', basename(directory)) })
    await expect(here).rejects.toThrow(/EUNAVAILABLE: .*the store is open in this process/)
    // After the refusal here: it must not have cost the lock.
    const body = 'await open().catch(({ message }) => writeSync(1, message))'
    const { stdout } = inAnotherProcess(directory, body)
    expect(stdout).toMatch(/EUNAVAILABLE: .*the store is open in another process/)
    await engine.close()
    await using again = await LevelEngine.open({ directory })
    expect(again.readPage(1)).toBeUndefined()
  })

  it('has every acknowledged commit of a process that was killed', async () => {
    const directory = place()
    const { signal } = inAnotherProcess(
      directory,
      `const engine = await open()
      for (let id = 1; id <= 200; id++) await engine.commit({ pages: [{ id, bytes: Buffer.alloc(10_000, id) }] })
      process.kill(process.pid, 'SIGKILL')`,
    )
    expect(signal).toBe('SIGKILL')
    await using engine = await LevelEngine.open({ directory })
    for (let id = 1; id <= 200; id++) expect(engine.readPage(id)).toEqual(Buffer.alloc(10_000, id))
  })

  it('acknowledges nothing after a failed write, goes on reading, and opens again with what it acknowledged', async () => {
    const directory = place()
    // No file may grow above 512 KiB or, by some shells' count, twice that: the log fails in the middle of a batch.
    const { stdout } = inAnotherProcess(
      directory,
      `const engine = await open()
      const outcomes = []
      for (let id = 1; id <= 400; id++) {
        const pages = [{ id, bytes: Buffer.alloc(id % 2 ? 10_000 : 100, id) }]
        outcomes.push(await engine.commit({ pages }).catch((error) => error.code + ' ' + error.message))
      }
      const read = outcomes.map((_, index) => engine.readPage(index + 1)?.length ?? 0)
      writeSync(1, JSON.stringify({ outcomes, read }))
      process.kill(process.pid, 'SIGKILL')`,
      'ulimit -f 1024;',
    )
    const { outcomes, read }: { outcomes: (string | true)[]; read: number[] } = JSON.parse(stdout)
    const acknowledged = outcomes.lastIndexOf(true) + 1
    expect(acknowledged).toBeGreaterThan(10)
    expect(outcomes[acknowledged]).toMatch(/^EIO .*could not commit: .*File too large/)
    const later = outcomes.slice(acknowledged + 1)
    expect(later.length).toBeGreaterThan(0)
    for (const outcome of later) expect(outcome).toMatch(/^EIO .*close the home and open it again/)
    expect(read.map((length) => length > 0)).toEqual(outcomes.map((outcome) => outcome === true))

    await using engine = await LevelEngine.open({ directory })
    for (let id = 1; id <= acknowledged; id++) expect(engine.readPage(id)?.[0]).toBe(id % 256)
    expect(await engine.commit({ pages: [{ id: 1000, bytes: Buffer.alloc(1) }] })).toBe(true)
  })

  it('refuses a store of a format it does not know, and says what to do', async () => {
    const directory = place()
    const db = new ClassicLevel<Uint8Array, Uint8Array>(directory, {
      keyEncoding: 'view',
      valueEncoding: 'view',
    })
    await db.put(Buffer.from('\0format'), Buffer.of(0, 0, 0, 0, 0, 0, 0, 99))
    await db.close()
    await expect(LevelEngine.open({ directory })).rejects.toThrow(/format 99, this version knows 1; update/)
  })

  it('refuses a store with a table that is cut off, before anything is read from it', async () => {
    const directory = place()
    const engine = await LevelEngine.open({ directory })
    for (let id = 1; id <= 16; id++) await engine.commit({ pages: [{ id, bytes: randomBytes(1024 ** 2) }] })
    await engine.close()
    const table = readdirSync(directory).find((name) => name.endsWith('.ldb')) ?? ''
    const { size } = statSync(join(directory, table))
    truncateSync(join(directory, table), size - 1)
    await expect(LevelEngine.open({ directory })).rejects.toMatchObject({
      code: 'EIO',
      message: expect.stringContaining(`${table} has ${size - 1} bytes, not ${size}`),
    })
  })

  it('reports a flipped bit in every part of a table, its Bloom filter included', async () => {
    const directory = place()
    for (const from of [0, 1000]) {
      // LevelDB writes its log as a table when it opens.
      const engine = await LevelEngine.open({ directory })
      const pages = Array.from({ length: 1000 }, (_, index) => ({
        id: from + index + 1,
        bytes: Buffer.alloc(40, 1),
      }))
      await engine.commit({ pages })
      await engine.close()
    }
    const [table = ''] = readdirSync(directory).filter((name) => name.endsWith('.ldb'))
    const whole = readFileSync(join(directory, table))
    const footerBytes = 48
    for (let at = 0; at < whole.length - footerBytes; at += 101) {
      const damaged = Buffer.from(whole)
      damaged.writeUInt8(damaged.readUInt8(at) ^ 1, at)
      writeFileSync(join(directory, table), damaged)
      expect(findTableDamage(join(directory, table)), `byte ${at} of ${whole.length}`).not.toEqual([])
    }
    writeFileSync(join(directory, table), whole)
    expect(findTableDamage(join(directory, table))).toEqual([])
  })

  it('says what is wrong where it cannot open', async () => {
    const failure = LevelEngine.open({ directory: '/dev/null/home' })
    await expect(failure).rejects.toSatisfy(
      (error) => isVfsError(error, 'EIO') && /not a dir/.test(error.message),
    )
  })
})
