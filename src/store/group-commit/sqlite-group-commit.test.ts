import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StatementSync } from 'node:sqlite'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { SqliteEngine } from '../engines/sqlite/sqlite-engine.ts'
import { blob, bytes, row, text } from '../engines/suite-rows.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-group-commit-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

let places = 0
const place = () => join(scratch, `store-${++places}.db`)
const flags = ['--conditions=coppice-source', '--input-type=module', '-e']

/** A program that has an engine open on a file. */
function script(file: string, body: string): string {
  return `import { SqliteEngine } from ${JSON.stringify(new URL('../engines/sqlite/sqlite-engine.ts', import.meta.url).href)}
    const engine = new SqliteEngine({ file: ${JSON.stringify(file)} })
    const row = (seq) => ({ vault: 1, seq, bytes: Uint8Array.of(seq) })
    ${body}`
}

/** Runs it in a process that is killed at its end. */
function inKilledProcess(file: string, body: string): void {
  const program = script(file, `${body}; process.kill(process.pid, 'SIGKILL')`)
  const { signal, stderr } = spawnSync(process.execPath, [...flags, program], { encoding: 'utf8' })
  expect({ signal, stderr }).toEqual({ signal: 'SIGKILL', stderr: '' })
}

/** Two rows that are kept and not committed when the process is killed. */
const KEPT = `
  engine.groupCommit.begin()
  engine.groupCommit.append({ journal: [row(1)], blobs: [{ id: 7, hash: new Uint8Array(0), bytes: Uint8Array.of(9) }] })
  engine.groupCommit.append({ journal: [row(2)], records: [{ key: 'r', bytes: Uint8Array.of(5) }] })`

describe('the group commit of a SQLite engine', () => {
  it('stores the final batch in place of the appended ones, and other engines see it then', async () => {
    const file = place()
    await using engine = new SqliteEngine({ file })
    await using other = new SqliteEngine({ file })
    expect(engine.groupCommit?.begin()).toBe(true)
    engine.groupCommit?.append({ journal: [row(1, 1), row(1, 2)] })
    expect(other.readJournal(1, 0, 10)).toEqual([])
    engine.groupCommit?.commit(() => engine.commit({ journal: [row(1, 1, 'both')], blobs: [blob(3, 'b')] }))
    expect(other.readJournal(1, 0, 10).map(({ bytes: found }) => text(found))).toEqual(['both'])
  })

  it('commits the side log when the engine is opened after a kill', async () => {
    const file = place()
    inKilledProcess(file, KEPT)
    await using engine = new SqliteEngine({ file })
    expect(engine.readJournal(1, 0, 10).map(({ seq }) => seq)).toEqual([1, 2])
    expect([engine.readBlob(7), engine.readRecord('r')]).toEqual([Uint8Array.of(9), Uint8Array.of(5)])
    expect(engine.commit({ journal: [row(1, 2)] })).toBe(false)
  })

  it('commits the side log of a killed process before the next commit of an open engine', async () => {
    const file = place()
    await using engine = new SqliteEngine({ file })
    inKilledProcess(file, KEPT)
    expect(engine.commit({ journal: [row(1, 1)] })).toBe(false)
    expect(engine.commit({ journal: [row(1, 3)] })).toBe(true)
    expect(engine.readJournal(1, 0, 10)).toHaveLength(3)
  })

  it('changes the change count when a commit of its own brings the side log of a killed process', async () => {
    const file = place()
    await using engine = new SqliteEngine({ file })
    inKilledProcess(file, KEPT)
    const before = engine.changeCount()
    expect(engine.changeCount()).toBe(before)
    engine.sync()
    expect(engine.changeCount()).not.toBe(before)
    expect(engine.readJournal(1, 0, 10)).toHaveLength(2)
  })

  it('commits the side log of a killed process also between many commits of single rows', async () => {
    const file = place()
    await using engine = new SqliteEngine({ file })
    for (const seq of [1, 2, 3]) expect(engine.commit({ journal: [row(2, seq)] })).toBe(true)
    inKilledProcess(file, KEPT)
    expect(engine.commit({ journal: [row(2, 4)], blobs: [blob(8, 'b')] })).toBe(true)
    expect(engine.readJournal(1, 0, 10).map(({ seq }) => seq)).toEqual([1, 2])
    expect(engine.commit({ journal: [row(1, 2)] })).toBe(false)
    expect(engine.commit({ journal: [row(2, 5)] })).toBe(true)
    expect(engine.readJournal(2, 0, 10).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5])
  })

  it('begins a group after commits of another engine that has none', async () => {
    const file = place()
    await using engine = new SqliteEngine({ file })
    await using other = new SqliteEngine({ file })
    for (const seq of [1, 2, 3]) {
      expect(engine.groupCommit?.begin()).toBe(true)
      engine.groupCommit?.append({ journal: [row(1, seq)] })
      engine.groupCommit?.commit(() => engine.commit({ journal: [row(1, seq)] }))
      expect(other.commit({ journal: [row(2, seq)] })).toBe(true)
      expect(other.commit({ journal: [row(1, seq)] })).toBe(false)
    }
    expect(engine.readJournal(2, 0, 10)).toHaveLength(3)
  })

  it('recovers no torn batch, and none that follows another state', async () => {
    const file = place()
    inKilledProcess(file, KEPT)
    const spool = readFileSync(`${file}-spool`)
    writeFileSync(`${file}-spool`, spool.subarray(0, spool.length - 1))
    await using engine = new SqliteEngine({ file })
    expect(engine.readJournal(1, 0, 10).map(({ seq }) => seq)).toEqual([1])
    writeFileSync(`${file}-spool`, spool)
    expect(engine.commit({ records: [{ key: 's', bytes: bytes('s') }] })).toBe(true)
    expect(engine.readJournal(1, 0, 10)).toHaveLength(1)
  })

  it('recovers no batch that was committed since, though its bytes are still in the side log', async () => {
    const file = place()
    // As long as what is kept later, so that the second one lies right behind that.
    const many = `engine.groupCommit.append({ journal: [row(1)] }); engine.groupCommit.append({ journal: [row(3)] })`
    const settled = `${many}; engine.groupCommit.commit(() => engine.commit({ journal: [row(1)] }))`
    inKilledProcess(file, `engine.groupCommit.begin(); ${settled}`)
    expect(readFileSync(`${file}-spool`).length).toBeGreaterThan(0)
    await using engine = new SqliteEngine({ file })
    expect(engine.readJournal(1, 0, 10).map(({ seq }) => seq)).toEqual([1])
    inKilledProcess(
      place(),
      `engine.groupCommit.begin(); ${settled}; engine.groupCommit.begin(); engine.groupCommit.append({ journal: [row(2)] })`,
    )
    await using other = new SqliteEngine({ file: join(scratch, `store-${places}.db`) })
    expect(other.readJournal(1, 0, 10).map(({ seq }) => seq)).toEqual([1, 2])
  })

  it('keeps what another engine appends right after its commit', async () => {
    const file = place()
    const engine = new SqliteEngine({ file })
    const other = new SqliteEngine({ file })
    engine.groupCommit?.begin()
    engine.groupCommit?.append({ journal: [row(1, 1)] })
    const run = StatementSync.prototype.run
    const commits = vi.spyOn(StatementSync.prototype, 'run').mockImplementation(function (
      this: StatementSync,
      ...values
    ) {
      const result = run.apply(this, values)
      if (this.sourceSQL !== 'COMMIT') return result
      commits.mockRestore()
      expect(other.groupCommit?.begin()).toBe(true)
      other.groupCommit?.append({ journal: [row(2, 1)] })
      return result
    })
    engine.groupCommit?.commit(() => engine.commit({ journal: [row(1, 1)] }))
    const copy = place()
    for (const end of ['', '-wal', '-spool']) copyFileSync(file + end, copy + end)
    await using found = new SqliteEngine({ file: copy })
    expect([found.readJournal(1, 0, 10).length, found.readJournal(2, 0, 10).length]).toEqual([1, 1])
    await other.close()
    await engine.close()
  })

  it('recovers no batch with torn content', async () => {
    const file = place()
    inKilledProcess(
      file,
      `engine.groupCommit.begin()
      engine.groupCommit.append({ journal: [row(1)] })
      engine.groupCommit.append({ journal: [row(2)], blobs: [{ id: 7, hash: new Uint8Array(0), bytes: Uint8Array.of(9, 9) }] })`,
    )
    const spool = readFileSync(`${file}-spool`)
    for (const torn of [spool.subarray(0, -1), Buffer.concat([spool.subarray(0, -1), Buffer.of(8)])]) {
      const copy = place()
      copyFileSync(file, copy)
      if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${copy}-wal`)
      writeFileSync(`${copy}-spool`, torn)
      await using engine = new SqliteEngine({ file: copy })
      expect(engine.readJournal(1, 0, 10).map(({ seq }) => seq)).toEqual([1])
    }
  })

  it('reverts a commit that fails, and keeps the batches acknowledged before it', async () => {
    const file = place()
    await using engine = new SqliteEngine({ file })
    engine.groupCommit?.begin()
    engine.groupCommit?.append({ journal: [row(1, 1)] })
    const fail = () => {
      engine.commit({ journal: [row(1, 1, 'all')] })
      throw new Error('no')
    }
    expect(() => engine.groupCommit?.commit(fail)).toThrow('no')
    expect(engine.readJournal(1, 0, 10).map(({ bytes: found }) => text(found))).toEqual(['j'])
  })

  it('ends when another writer waits, which then commits', async () => {
    const file = place()
    await using engine = new SqliteEngine({ file })
    engine.groupCommit?.begin()
    engine.groupCommit?.append({ journal: [row(1, 1)] })
    const child = spawn(process.execPath, [...flags, script(file, 'engine.commit({ journal: [row(2)] })')])
    const ended = once(child, 'exit')
    while (!existsSync(`${file}-wish`)) await new Promise(setImmediate)
    while (engine.groupCommit?.receiveLockRequest() !== true) await new Promise(setImmediate)
    engine.groupCommit.commit(() => engine.commit({ journal: [row(1, 1)] }))
    expect(engine.groupCommit.begin()).toBe(false)
    expect((await ended)[0]).toBe(0)
    expect(engine.readJournal(1, 0, 10)).toHaveLength(2)
  })

  it('is missing if every commit has to survive power loss', async () => {
    await using engine = new SqliteEngine({ file: place(), durability: 'full' })
    expect(engine.groupCommit).toBeUndefined()
  })

  it('recovers the complete batches before garbage', async () => {
    const file = place()
    inKilledProcess(file, KEPT)
    appendFileSync(`${file}-spool`, 'garbage')
    await using engine = new SqliteEngine({ file })
    expect(engine.readJournal(1, 0, 10)).toHaveLength(2)
  })
})
