import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasProgram } from '../support/debian-programs.ts'
import { root } from '../support/run-node.ts'
import { whyNoOverlay } from '../support/tools.ts'
import { PseudoTerminal } from './pseudo-terminal.ts'
import { Cli } from './run-cli.ts'

const why = whyNoOverlay()
let server: Server
let port = 0

beforeAll(async () => {
  server = createServer((request, response) => response.end(`seen ${request.url}\n`)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address: AddressInfo | string | null = server.address()
  port = typeof address === 'object' && address !== null ? address.port : 0
})

afterAll(() => server.close())

function curl(path: string): string[] {
  return ['--', 'curl', '-sS', '-m', '20', `http://localhost:${port}${path}`]
}

describe.skipIf(why !== undefined)('coppice exec --allow-host', () => {
  it('lets a command reach the host without a question, and records that', async () => {
    const cli = new Cli()
    const allow = ['--allow-host', `localhost:${port}`]
    expect(await cli.ok('exec', ...allow, ...curl('/a'))).toBe('seen /a\n')
    expect(await cli.json('exec', ...allow, ...curl('/b'))).toMatchObject({
      success: true,
      result: {
        stdout: 'seen /b\n',
        network: [{ host: 'localhost', port, decision: 'allowed', connections: 1 }],
      },
    })
    expect(await cli.ok('log', '--commands')).toMatch(
      new RegExp(`^    localhost:${port} sent \\d+ B, received \\d+ B$`, 'm'),
    )
  })

  it('refuses any other host with one line that names the remedy', async () => {
    const cli = new Cli()
    const line = 'curl -s http://other.example/; curl -s http://other.example/; echo end'
    const run = await cli.run(['exec', '--allow-host', 'shop.example', '--shell', '--', line])
    expect(run.stdout).toMatch(/end\n$/)
    expect(run.stderr.match(/^coppice: refused: .*$/gm)).toEqual([
      'coppice: refused: other.example:80 is not an allowed host; allow it with: coppice exec --allow-host other.example:80 …',
    ])
    expect(await cli.ok('log', '--commands')).toContain('    other.example:80 refused, 2 connections\n')
    // An agent reads only the result.
    expect(await cli.json('exec', '--allow-host', 'shop.example', '--shell', '--', line)).toMatchObject({
      result: { stderr: expect.stringMatching(/^coppice: refused: other\.example:80 .*\n$/) },
    })
  })

  it.each([
    [['--allow-host', 'https://example.com/'], 'is a URL'],
    [['--allow-host', 'localhost'], 'name a port'],
    [['--allow-host', 'example.com', '--network'], 'leave out --network'],
    [['--allow-host', 'example.com', '--isolation', 'none'], 'needs isolation'],
  ])('refuses %j', async (args, message) => {
    const run = await new Cli().run(['exec', ...args, '--', 'true'])
    expect(run.code).not.toBe(0)
    expect(run.stderr).toContain(message)
  })

  it('holds also for a command that joins another one in its fork', async () => {
    const cli = new Cli()
    const running = cli.start(['exec', '--fork', 'mine', '--shell', '--', 'echo started; sleep 60'])
    await once(running.stdout, 'data')
    const direct = ['curl', '-sS', '--noproxy', '*', `http://127.0.0.1:${port}/direct`]
    const refused = await cli.run(['enter', 'mine', '--allow-host', 'shop.example', '--', ...direct])
    expect(refused.stdout).not.toContain('seen')
    const allowed = ['--allow-host', `localhost:${port}`, '--', ...direct]
    expect(await cli.ok('enter', 'mine', ...allowed)).toBe('seen /direct\n')
    running.kill()
    await once(running, 'close')
  })

  it('puts package managers offline where no host is allowed', async () => {
    const cli = new Cli()
    const line = 'echo $PIP_NO_INDEX $npm_config_offline $HTTP_PROXY'
    expect(await cli.ok('exec', '--shell', '--', line)).toBe('1 true\n')
    expect(await cli.ok('exec', '--isolation', 'none', '--shell', '--', line)).toBe('\n')
    const overridden = ['--env', 'PIP_NO_INDEX=0', '--shell', '--', line]
    expect(await cli.ok('exec', ...overridden)).toBe('0 true\n')
  })
})

describe.skipIf(why !== undefined)('hosts that are allowed for longer', () => {
  it('come from policy.toml, whose mistakes are named by their line', async () => {
    const cli = new Cli()
    mkdirSync(cli.home)
    const file = join(cli.home, 'policy.toml')
    writeFileSync(file, `[network]\nallow = ["localhost:${port}"]\n`)
    expect(await cli.ok('exec', ...curl('/policy'))).toBe('seen /policy\n')
    writeFileSync(file, '[network]\n\nallow = ["http://example.com"]\n')
    expect((await cli.run(['exec', '--', 'true'])).stderr).toMatch(/policy\.toml:3: .* is a URL/)
    writeFileSync(file, '[network]\ndeny = []\n')
    expect((await cli.run(['exec', '--', 'true'])).stderr).toMatch(/policy\.toml:2: unknown key 'deny'/)
  })

  it('come from coppice approve, for a directory or for a fork of it, until they are taken back', async () => {
    const cli = new Cli()
    const host = `localhost:${port}`
    expect((await cli.run(['exec', ...curl('/')])).stderr).toContain('it needs approval')
    await cli.ok('approve', '--host', host, '--fork', 'mine')
    expect((await cli.run(['exec', ...curl('/')])).stderr).toContain('it needs approval')
    expect(await cli.ok('exec', '--fork', 'mine', ...curl('/fork'))).toBe('seen /fork\n')
    await cli.ok('approve', '--host', host, '--expires', '2h')
    expect(await cli.ok('exec', ...curl('/project'))).toBe('seen /project\n')
    const listed = await cli.ok('approve')
    expect(listed).toMatch(new RegExp(`^${host}  allowed in fork mine of .*$`, 'm'))
    expect(listed).toMatch(new RegExp(`^${host}  allowed in .*files until .*$`, 'm'))
    await cli.ok('approve', '--deny', '--host', host)
    expect((await cli.run(['exec', ...curl('/')])).stderr).toContain('it needs approval')
  })

  it('come from an approval of what an agent asked for, in its scope', async () => {
    const cli = new Cli()
    await cli.ok('vault', 'create', 'project')
    const ask = (path: string) => {
      const args = { command: `curl -sS http://localhost:${port}${path}`, hosts: [`localhost:${port}`] }
      return cli.run(['tool', 'call', 'shell_exec', '--vault', 'project', '--args', JSON.stringify(args)])
    }
    const [, id = ''] = (await ask('/once')).stderr.match(/coppice approve ([0-9a-f]+)/) ?? []
    expect(id).not.toBe('')
    const shown = await cli.ok('approve', id)
    expect(shown).toContain(`network: these hosts, for the whole command\n  | localhost:${port}\n`)
    expect((await ask('/once')).stdout).toContain('seen /once')
    const [, again = ''] = (await ask('/more')).stderr.match(/coppice approve ([0-9a-f]+)/) ?? []
    await cli.ok('approve', '--for', 'project', '--expires', '1h', again)
    expect((await ask('/more')).stdout).toContain('seen /more')
    expect((await ask('/others')).stdout).toContain('seen /others')
  })
})

describe.skipIf(why !== undefined || !hasProgram('python3'))('a refused host at a terminal', () => {
  const curl = () => `curl -sS --noproxy , http://localhost:${port}/asked`

  /** Runs a command that may reach another host alone. */
  function start(cli: Cli, command: string, ...options: string[]): PseudoTerminal {
    const program = [process.execPath, join(root, 'bin/coppice.js')]
    const words = [...program, 'exec', '--allow-host', 'shop.example', ...options, '--', command]
    const env = { ...process.env, NODE_OPTIONS: '', COPPICE_HOME: cli.home }
    return new PseudoTerminal(['sh', '-c', `cd ${cli.files} && ${words.join(' ')}`], env, [24, 200])
  }

  /** Runs curl, and answers the question about this host. */
  async function answer(cli: Cli, keys: string, ...options: string[]) {
    const terminal = start(cli, curl(), ...options)
    await expect.poll(() => terminal.shown, { timeout: 30_000 }).toMatch(/run the command again\? \[\S+\] /)
    terminal.type(`${keys}\n`)
    await terminal.ended()
    return terminal.shown
  }

  it('may be allowed once, and the command runs again', async () => {
    const cli = new Cli()
    const shown = await answer(cli, 'once')
    expect(shown).toContain(
      `Allow localhost:${port}, this host only, and run the command again? [once/project/No] `,
    )
    expect(shown).toContain('seen /asked')
    expect(await cli.ok('approve')).not.toContain('localhost')
  })

  it('may be allowed for the fork or the project', async () => {
    const cli = new Cli()
    expect(await answer(cli, 'f', '--fork', 'mine')).toContain('seen /asked')
    expect(await cli.ok('approve')).toMatch(/^localhost:\d+ {2}allowed in fork mine of /m)
    expect(await answer(cli, 'project')).toContain('seen /asked')
    expect(await cli.ok('approve')).toMatch(/^localhost:\d+ {2}allowed in \//m)
  })

  it('is no question after Ctrl-C', async () => {
    const terminal = start(new Cli(), `'${curl()}; echo served; sleep 600'`, '--shell')
    await expect.poll(() => terminal.shown, { timeout: 30_000 }).toContain('served')
    terminal.type('\x03')
    await terminal.ended()
    expect(terminal.shown).toContain('is not an allowed host')
    expect(terminal.shown).not.toContain('run the command again')
  })

  it('is no question after the session of a coding agent', async () => {
    const cli = new Cli()
    mkdirSync(join(cli.home, 'profiles'), { recursive: true, mode: 0o700 })
    writeFileSync(join(cli.home, 'profiles/agent.toml'), 'programs = ["curl"]\nmask = true\n')
    const terminal = start(cli, curl())
    await terminal.ended()
    expect(terminal.shown).toContain('is not an allowed host')
    expect(terminal.shown).not.toContain('run the command again')
  })

  it('stays refused without an answer', async () => {
    const cli = new Cli()
    expect(await answer(cli, '')).not.toContain('seen /asked')
    expect(await cli.ok('approve')).not.toContain('localhost')
  })
})
