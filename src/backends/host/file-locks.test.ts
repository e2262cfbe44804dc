import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { createProcessTag } from '../../machine/index.ts'
import { hash, readText } from '../../vfs/index.ts'
import { FileLocks } from './file-locks.ts'
import { HostFs } from './index.ts'

const KEY = 'a'.repeat(32)

let root: string
let locks: string

beforeEach(() => {
  const scratch = mkdtempSync(join(tmpdir(), 'file-locks-'))
  onTestFinished(() => rmSync(scratch, { recursive: true, force: true }))
  root = join(scratch, 'files')
  locks = join(scratch, 'locks')
  mkdirSync(root)
})

/** Runs a program of this folder in a process of its own. */
function start(program: string, ...args: string[]): ChildProcess {
  const code = program.replaceAll(/'(\.[^']*\.ts)'/g, (_, path) =>
    JSON.stringify(new URL(path, import.meta.url).href),
  )
  const child = spawn(process.execPath, ['--input-type=module', '-e', code, ...args], {
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

async function exitOf(child: ChildProcess): Promise<unknown> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  const [code] = await once(child, 'exit')
  return code
}

async function saidBy(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('it has no output')
  return String((await once(child.stdout, 'data'))[0])
}

const holder = `
import { FileLocks } from './file-locks.ts'
const [locks, key] = process.argv.slice(1)
setInterval(() => {}, 1000)
await new FileLocks(locks).hold([key], undefined, () => {
  console.log('held')
  return new Promise(() => {})
})`

/** Adds its lines to a file, one edit each, as often as it takes. */
const editor = `
import { HostFs } from './host-fs.ts'
import { createHash } from 'node:crypto'
import { isVfsError, readText } from '../../vfs/index.ts'
const [root, locks, name, count] = process.argv.slice(1)
const fs = new HostFs(root, { locks })
for (let line = 0; line < Number(count); ) {
  const text = await readText(fs, '/list')
  const ifMatch = createHash('sha256').update(text).digest('hex')
  try {
    await fs.write('/list', text + name + line + '\\n', { ifMatch })
    line++
  } catch (error) {
    if (!isVfsError(error, 'ECONFLICT')) throw error
  }
}`

describe('several processes', () => {
  it("lose none of each other's edits", async () => {
    writeFileSync(join(root, 'list'), '')
    const editors = ['a', 'b', 'c'].map((name) => start(editor, root, locks, name, '40'))
    expect(await Promise.all(editors.map(exitOf))).toEqual([0, 0, 0])
    const lines = readFileSync(join(root, 'list'), 'utf8').trimEnd().split('\n')
    expect(new Set(lines).size).toBe(120)
    expect(lines).toHaveLength(120)
    expect(readdirSync(locks)).toEqual([])
  }, 60_000)

  it('continue when one of them is killed during its edits', async () => {
    writeFileSync(join(root, 'list'), '')
    const survivors = ['a', 'b'].map((name) => start(editor, root, locks, name, '30'))
    for (let round = 0; round < 5; round++) {
      const victim = start(editor, root, locks, `v${round}-`, '1000')
      const edited = () => readFileSync(join(root, 'list'), 'utf8').includes(`v${round}-`)
      await expect.poll(edited, { interval: 5, timeout: 20_000 }).toBe(true)
      victim.kill('SIGKILL')
      await exitOf(victim)
    }
    expect(await Promise.all(survivors.map(exitOf))).toEqual([0, 0])
    const lines = readFileSync(join(root, 'list'), 'utf8').split('\n')
    expect(lines.filter((line) => /^[ab]\d+$/.test(line))).toHaveLength(60)
  }, 60_000)
})

describe('a lock', () => {
  it('of a process that was killed is broken', async () => {
    const child = start(holder, locks, KEY)
    expect(await saidBy(child)).toBe('held\n')
    child.kill('SIGKILL')
    await exitOf(child)
    expect(readdirSync(join(locks, KEY))).toHaveLength(1)
    expect(await new FileLocks(locks).hold([KEY], undefined, () => 'mine')).toBe('mine')
    expect(readdirSync(locks)).toEqual([])
  })

  it('of a living process blocks until it is released or the signal aborts', async () => {
    const child = start(holder, locks, KEY)
    await saidBy(child)
    const abort = new AbortController()
    const waiting = new FileLocks(locks).hold([KEY], abort.signal, () => 'mine')
    const other = await new FileLocks(locks).hold(['b'.repeat(32)], undefined, () => 'not concerned')
    expect(other).toBe('not concerned')
    abort.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    expect(readdirSync(locks)).toEqual([KEY])
    const next = new FileLocks(locks).hold([KEY], undefined, () => 'mine')
    child.kill('SIGKILL')
    expect(await next).toBe('mine')
  })

  it('is not broken for a living owner, and is broken for a dead owner whose pid was reused', async () => {
    const [where = '', pid = '', , nonce = ''] = createProcessTag().split('-')
    mkdirSync(join(locks, KEY, [where, pid, '1', nonce].join('-')), { recursive: true })
    expect(await new FileLocks(locks).hold([KEY], undefined, () => 'mine')).toBe('mine')
  })

  it('of an unknown owner is broken after a minute', async () => {
    const [, pid = '', start = '', nonce = ''] = createProcessTag().split('-')
    const entry = join(locks, KEY, ['0'.repeat(20), pid, start, nonce].join('-'))
    mkdirSync(entry, { recursive: true })
    const waiting = new FileLocks(locks).hold([KEY], AbortSignal.timeout(50), () => 'mine')
    await expect(waiting).rejects.toMatchObject({ name: 'TimeoutError' })
    const old = Date.now() / 1000 - 61
    utimesSync(entry, old, old)
    expect(await new FileLocks(locks).hold([KEY], undefined, () => 'mine')).toBe('mine')
  })

  it('on two files does not deadlock in any order, and admits one holder after another', async () => {
    const order: string[] = []
    const turn = (name: string, keys: string[]) =>
      new FileLocks(locks).hold(keys, undefined, async () => {
        order.push(`${name} in`)
        await new Promise(setImmediate)
        order.push(`${name} out`)
      })
    await Promise.all([turn('a', ['x', 'y']), turn('b', ['y', 'x']), turn('c', ['y', 'y'])])
    for (let at = 0; at < order.length; at += 2) {
      expect(order[at + 1]).toBe(order[at]?.replace('in', 'out'))
    }
    expect(readdirSync(locks)).toEqual([])
  })

  it('is released when the change fails', async () => {
    await using fs = new HostFs(root, { locks })
    await fs.write('/f', 'old')
    await expect(fs.write('/f', 'new', { ifMatch: '0'.repeat(64) })).rejects.toMatchObject({
      code: 'ECONFLICT',
    })
    await expect(fs.remove('/gone')).rejects.toMatchObject({ code: 'ENOENT' })
    await fs.write('/f', 'new', { ifMatch: await hash(fs, '/f') })
    await fs.append('/f', 'er')
    await fs.rename('/f', '/d/g')
    expect(await readText(fs, '/d/g')).toBe('newer')
    expect(readdirSync(locks)).toEqual([])
  })
})
