import { spawnSync } from 'node:child_process'
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PROGRAM } from '../mcp/mcp-client.ts'
import { whyNotNobody } from '../support/tools.ts'
import { Cli } from './run-cli.ts'

/** Content that occurs in no page of SQLite itself. */
const MARK = 'what one file holds '

/** Creates a home with a file of many pages. */
async function filled(): Promise<{ cli: Cli; store: string }> {
  const cli = new Cli()
  await cli.ok('vault', 'create', 'base')
  await cli.run(['write', '/large'], { input: MARK.repeat(20_000) })
  await cli.ok('write', '/small', '--text', 'sound')
  return { cli, store: join(cli.home, 'store.db') }
}

/** Overwrites a part of a file. */
function damage(file: string, from: number, to: number): void {
  const bytes = readFileSync(file)
  writeFileSync(file, bytes.fill(0xff, from, to))
}

describe('a store that is damaged', () => {
  it.each([
    ['its first page', 0, 4096],
    ['all pages behind the first', 8192, Number.POSITIVE_INFINITY],
  ])('is reported with advice if it is %s', async (_what, from, to) => {
    const { cli, store } = await filled()
    damage(store, from, Math.min(to, readFileSync(store).length))
    for (const command of ['fsck', 'gc', 'ls', 'stats', 'mcp', 'ps']) {
      const { code, stdout, stderr } = await cli.run([command])
      expect({ code, stdout }, command).toEqual({ code: 1, stdout: '' })
      expect(stderr.split(store).length, stderr).toBe(2)
      expect(stderr).toContain('from a backup')
    }
    const { stderr } = await cli.run(['fsck', '--json'])
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'EIO', path: store } })
  })

  it('is checked to its end, and undamaged files stay readable', async () => {
    const { cli, store } = await filled()
    const middle = readFileSync(store).lastIndexOf(MARK)
    damage(store, middle - 30_000, middle)
    const { code, stdout, stderr } = await cli.run(['fsck'])
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /^(damaged blob \d+: .*\n {2}in base:\/large\n)+checked \d+ objects: \d+ objects? damaged\n$/,
    )
    expect(stderr).toContain(`the store ${store} is damaged; keep a copy`)
    expect(await cli.ok('cat', '/small')).toContain('sound')
    for (const search of [
      ['grep', 'sound|holds'],
      ['search', 'sound'],
    ]) {
      const found = await cli.run(search)
      expect(found).toMatchObject({ code: 2, stdout: expect.stringContaining('/small') })
      expect(found.stderr).toMatch(/^coppice: \/large: .*malformed\n$/)
    }
    const out = join(cli.files, 'out')
    const salvaged = await cli.run(['export', out, '--salvage', '--json'])
    expect(salvaged.code).toBe(1)
    expect(JSON.parse(salvaged.stdout)).toMatchObject({
      directory: out,
      files: 2,
      lost: [{ path: '/large' }],
    })
    expect(readdirSync(out).toSorted()).toEqual(['large.damaged', 'small'])
  })
})

describe.skipIf(whyNotNobody())('a home that cannot be written to', () => {
  it('is reported, and does not stop doctor', async () => {
    const { cli } = await filled()
    for (const directory of [cli.scratch, cli.home]) chmodSync(directory, 0o755)
    const run = (...args: string[]) => {
      const [program = '', ...first] = PROGRAM
      const env = { PATH: process.env['PATH'] ?? '', COPPICE_HOME: cli.home, HOME: '/nonexistent' }
      const options = { uid: 65_534, gid: 65_534, cwd: '/', env, encoding: 'utf8' } as const
      const { status, stdout, stderr } = spawnSync(program, [...first, ...args], options)
      return { status, stdout, stderr }
    }
    for (const command of [['ps'], ['tasks', 'list'], ['daemon', 'start']]) {
      const stderr = expect.stringContaining(`the daemon cannot write to the home ${cli.home}`)
      expect(run(...command)).toEqual({ status: 1, stdout: '', stderr })
    }
    expect(run('daemon', 'stop')).toEqual({ status: 0, stdout: 'no daemon runs\n', stderr: '' })
    const doctor = run('doctor')
    expect(doctor).toMatchObject({ status: 0, stderr: '' })
    expect(doctor.stdout).toMatch(/^no +home +\S+ is not writable$/m)
    expect(doctor.stdout).toMatch(/^ +home: make \S+ writable/m)
  })
})
