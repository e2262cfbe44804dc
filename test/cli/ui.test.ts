import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { WebClient } from '../web/web-client.ts'
import { DaemonCli } from './daemon-cli.ts'

/** A user without rights, as nobody else is on every machine. */
const NOBODY = 65_534
const isRoot = process.getuid?.() === 0

describe('coppice ui', () => {
  it('starts the daemon, prints an address that opens one session, and prints another one the next time', async () => {
    const cli = new DaemonCli()
    await cli.run(['vault', 'create', 'base'])
    const first = (await cli.run(['ui', '--no-open'])).stdout.trim()
    expect(first).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#[\w-]{43}$/)
    const client = await WebClient.open(first)
    const { items } = await client.call('listTrees', {})
    expect(items.map(({ tree }) => tree)).toContain('vault:base')
    await expect(WebClient.open(first)).rejects.toThrow('401')
    const { origin, link } = JSON.parse((await cli.run(['ui', '--json'])).stdout)
    expect(origin).toBe(new URL(first).origin)
    await WebClient.open(link)
    const marker = join(cli.home, 'run/ui')
    expect(statSync(marker).mode & 0o777).toBe(0o600)
    await cli.run(['daemon', 'stop'])
    expect(existsSync(marker)).toBe(false)
    await expect(client.call('getStatus', {})).rejects.toThrow()
  })

  it('opens the changes of a fork, and says so if there is none', async () => {
    const cli = new DaemonCli()
    await cli.run(['vault', 'create', 'base'])
    await cli.run(['fork', 'base', 'task'])
    const { stdout } = await cli.run(['ui', 'diff', 'task', '--no-open'])
    const { pathname, searchParams } = new URL(stdout.trim())
    expect([pathname, ...searchParams.values()]).toEqual([
      '/compare',
      'vault:task^',
      'vault:task',
      'vault:base',
    ])
    const missing = await cli.run(['ui', 'diff', 'none', '--no-open'])
    expect([missing.code, missing.stderr]).toEqual([
      1,
      expect.stringContaining("there is no fork or vault 'none'; see: coppice forks"),
    ])
    expect((await cli.run(['ui', 'diff'])).stderr).toContain('name the fork')
    expect((await cli.run(['ui', 'settings'])).stderr).toContain("there is no screen 'settings'")
    expect((await cli.run(['ui', '--port', '70000'])).stderr).toContain('from 1 to 65535')
  })

  it('creates nothing for a command that it refuses', async () => {
    const cli = new DaemonCli()
    for (const args of [
      ['ui', 'settings'],
      ['ui', 'diff'],
      ['ui', '--port', '70000'],
    ])
      expect((await cli.run(args)).code).toBe(2)
    expect(existsSync(cli.home)).toBe(false)
  })

  it('keeps its port, and refuses another one', async () => {
    const cli = new DaemonCli()
    const { origin } = JSON.parse((await cli.run(['ui', '--json'])).stdout)
    const other = Number(new URL(origin).port) === 45_321 ? 45_322 : 45_321
    const { code, stderr } = await cli.run(['ui', '--no-open', '--port', String(other)])
    expect([code, stderr]).toEqual([1, expect.stringContaining('is served on port')])
  })

  it('gives the browser a private file in place of the address, which other users could read', async () => {
    const cli = new DaemonCli()
    const bin = join(cli.scratch, 'bin')
    const seen = join(cli.scratch, 'seen')
    spawnSync('mkdir', [bin])
    writeFileSync(
      join(bin, 'xdg-open'),
      `#!/bin/sh\ncp "\${1#file://}" ${seen}.html; echo "$1" > ${seen}\n`,
      {
        mode: 0o755,
      },
    )
    const env = { DISPLAY: ':9', PATH: `${bin}:${process.env['PATH']}` }
    const { stdout } = await cli.run(['ui'], { env })
    await expect.poll(() => existsSync(seen)).toBe(true)
    const address = spawnSync('cat', [seen], { encoding: 'utf8' }).stdout
    const page = spawnSync('cat', [`${seen}.html`], { encoding: 'utf8' }).stdout
    expect(address).toMatch(/^file:\/\//)
    expect(address).not.toContain(new URL(stdout.trim()).hash.slice(1))
    expect(page).toContain(stdout.trim())
    const [file = ''] = readdirSync(join(cli.home, 'run')).filter((name) => name.endsWith('.html'))
    expect(statSync(join(cli.home, 'run', file)).mode & 0o777).toBe(0o600)
    utimesSync(join(cli.home, 'run', file), 1000, 1000)
    await cli.run(['ui'], { env })
    expect(existsSync(join(cli.home, 'run', file))).toBe(false)
  })

  it.skipIf(!isRoot)('gives nothing to another user of the machine', async () => {
    const cli = new DaemonCli()
    await cli.run(['vault', 'create', 'base'])
    const { origin, link } = JSON.parse((await cli.run(['ui', '--json'])).stdout)
    // Even a code that they saw over your shoulder.
    const { link: stolen } = JSON.parse((await cli.run(['ui', '--json'])).stdout)
    const program = `
      const fs = require('node:fs')
      const tries = {}
      for (const path of ${JSON.stringify(['run', 'run/ui', 'run/daemon.sock', 'store.db'])})
        try { fs.statSync(${JSON.stringify(`${cli.home}/`)} + path); tries[path] = 'seen' } catch (error) { tries[path] = error.code }
      const status = async (path, options) => (await fetch(${JSON.stringify(origin)} + path, options)).status
      const lines = fs.readdirSync('/proc').filter((name) => /^\\d+$/.test(name)).map((pid) => {
        try { return fs.readFileSync('/proc/' + pid + '/cmdline', 'utf8') } catch { return '' }
      })
      ;(async () => {
        tries.api = await status('/api/listTrees', {})
        tries.events = await status('/api/events', {})
        tries.session = await status('/api/session', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ code: ${JSON.stringify(new URL(stolen).hash.slice(1))} }),
        })
        tries.code = lines.some((line) => line.includes(${JSON.stringify(new URL(link).hash.slice(1))}) && !line.includes('readdirSync'))
        console.log(JSON.stringify(tries))
      })()
    `
    const { stdout, stderr } = spawnSync(process.execPath, ['-e', program], {
      uid: NOBODY,
      gid: NOBODY,
      cwd: '/',
      env: { PATH: process.env['PATH'] },
      encoding: 'utf8',
    })
    expect(JSON.parse(stdout || stderr)).toEqual({
      run: 'EACCES',
      'run/ui': 'EACCES',
      'run/daemon.sock': 'EACCES',
      'store.db': 'EACCES',
      api: 401,
      events: 401,
      session: 403,
      code: false,
    })
    await WebClient.open(link)
  })
})
