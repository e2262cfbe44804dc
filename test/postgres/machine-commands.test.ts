import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasPostgres, PostgresServer } from '../support/postgres-server.ts'
import { Machine } from './machine.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-machines-'))
let server: PostgresServer
let homes = 0

beforeAll(async () => {
  if (hasPostgres) server = await PostgresServer.start()
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  rmSync(scratch, { recursive: true, force: true })
})

/** Two machines with a vault `base` that has `/plan.md`. */
function createTeam(): { ann: Machine; bob: Machine } {
  const url = server.url(`team_${++homes}`)
  const [ann, bob] = [new Machine(scratch, `ann-${homes}`, url), new Machine(scratch, `bob-${homes}`, url)]
  ann.get('vault', 'create', 'base')
  ann.get('write', '/plan.md', '--text', 'one')
  return { ann, bob }
}

describe.runIf(hasPostgres)('commands of this machine on a shared home', () => {
  it('run in a fork of a vault that every machine sees', () => {
    const { ann, bob } = createTeam()
    const run = ann.run('exec', '--vault', 'base', '--', 'sh', '-c', 'cat plan.md; echo new > new.txt')
    expect(run).toMatchObject({ status: 0, stdout: 'one\n' })
    expect(bob.get('diff', '--vault', 'base-1')).toBe('A /new.txt\n')
    const again = bob.run(
      'exec',
      '--vault',
      'base',
      '--fork',
      'base-1',
      '--',
      'sh',
      '-c',
      'echo b >> new.txt',
    )
    expect(again.status).toBe(0)
    expect(ann.get('cat', '/new.txt', '--vault', 'base-1')).toBe('new\nb\n')
    ann.get('merge', 'base-1', 'base')
    expect(bob.get('cat', '/new.txt', '--vault', 'base')).toBe('new\nb\n')
    const names = JSON.parse(bob.get('vault', 'list', '--json')).map(({ name }: { name: string }) => name)
    expect(names).toEqual(['base', 'base-1'])
    const unchanged = bob.run('exec', '--vault', 'base', '--', 'cat', 'new.txt')
    expect(unchanged).toMatchObject({ status: 0, stdout: 'new\nb\n' })
    expect(JSON.parse(bob.get('vault', 'list', '--json')).length).toBe(2)
    for (const machine of [ann, bob]) expect(machine.get('fsck')).toContain('no damage')
  })

  it('are stored by the next command if they are killed, beside what other machines changed', async () => {
    const { ann, bob } = createTeam()
    await killExec(ann, 'echo two >> plan.md; echo new > new.txt', '--vault', 'base')
    bob.get('write', '/later.md', '--text', 'later')
    expect(ann.run('vault', 'list').stderr).toBe(
      'coppice: a command of base-1 was killed; the fork has its changes now\n',
    )
    expect(bob.get('cat', '/plan.md', '--vault', 'base-1')).toBe('one\ntwo\n')
    expect(bob.get('cat', '/later.md', '--vault', 'base-1')).toBe('later\n')
    expect(bob.get('cat', '/plan.md', '--vault', 'base')).toBe('one\n')
    await killExec(ann, 'echo mine > new.txt', '--vault', 'base', '--fork', 'base-1')
    bob.get('write', '/new.txt', '--text', 'of bob', '--vault', 'base-1')
    const [, checkpoint = ''] =
      /a command of base-1 was killed; .* in the checkpoint (\S+)\n$/.exec(ann.run('vault', 'list').stderr) ??
      []
    expect(bob.get('cat', '/new.txt', '--vault', 'base-1')).toBe('mine\n')
    expect(bob.get('cat', '/new.txt', '--vault', 'base-1', '--at', checkpoint)).toBe('of bob\n')
    const names = JSON.parse(bob.get('vault', 'list', '--json')).map(({ name }: { name: string }) => name)
    expect(names).toEqual(['base', 'base-1'])
    for (const machine of [ann, bob]) expect(machine.get('fsck')).toContain('no damage')
  })

  it('count as stored once every machine sees their changes', () => {
    const { ann, bob } = createTeam()
    const exec = (fork: string, line: string) => ['exec', '--vault', 'base', '--fork', fork, '-c', '--', line]
    ann.killAt('rmSync:/fork.json', ...exec('fix', 'echo first > first'))
    expect(bob.get('cat', '/first', '--vault', 'fix')).toBe('first\n')
    ann.killAt('rmSync:/fork.json', ...exec('fix', 'echo second > second'))
    expect(bob.get('cat', '/second', '--vault', 'fix')).toBe('second\n')
    expect(ann.run('vault', 'list').stderr).toBe('')
    expect(ann.get('fsck')).toContain('no damage')
  })

  it('leave their changes for the next command if the home does not take them', async () => {
    const { ann, bob } = createTeam()
    const fork = ['exec', '--vault', 'base', '--fork', 'fix', '-c', '--']
    ann.run(...fork, 'echo first > first')
    const child = ann.start(...fork, 'echo second > second; echo done; read line')
    let said = ''
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString()
    })
    await once(child.stdout, 'data')
    bob.get('quota', 'set', '--files', '2', '--vault', 'fix')
    child.stdin.end('go on\n')
    await once(child, 'close')
    expect(said).toMatch(
      /the changes of the command could not be kept: .*; a later coppice command tries again/,
    )
    bob.get('quota', 'set', '--files', 'none', '--vault', 'fix')
    expect(ann.run('vault', 'list').stderr).toBe(
      'coppice: a command of fix was killed; the fork has its changes now\n',
    )
    expect(bob.get('cat', '/second', '--vault', 'fix')).toBe('second\n')
  })

  it('keep the forks of a directory on the machine that has the directory', () => {
    const { ann, bob } = createTeam()
    writeFileSync(join(ann.cwd, 'f'), 'one\n')
    expect(ann.run('exec', '--', 'sh', '-c', 'echo two >> f').status).toBe(0)
    expect(ann.get('diff')).toContain('+two')
    expect(bob.get('forks')).toContain('no forks')
    expect(ann.get('apply')).toContain('wrote 1 change')
    expect(readFileSync(join(ann.cwd, 'f'), 'utf8')).toBe('one\ntwo\n')
    ann.get('apply', '--undo')
    expect(readFileSync(join(ann.cwd, 'f'), 'utf8')).toBe('one\n')
    ann.get('drop', 'work-1')
    expect(ann.get('forks')).toContain('no forks')
  })

  it('hide the address of the home, its password and its directory from commands', () => {
    const { ann } = createTeam()
    const { stdout } = ann.run('exec', '--vault', 'base', '--', 'env')
    expect(stdout).toContain('HOME=')
    expect(stdout).not.toContain('postgres:')
  })

  it('wait for an approval on the machine that asked', () => {
    const { ann, bob } = createTeam()
    const refused = ann.run('exec', '--vault', 'base', '--', 'curl', 'http://localhost:1')
    const [, id = ''] = /coppice approve ([0-9a-f]+)/.exec(refused.stderr) ?? []
    expect(bob.get('approve')).toContain('nothing waits')
    expect(ann.get('approve', id)).toContain('may run once')
  })

  it('give the tools and MCP the vaults of the home', () => {
    const { ann, bob } = createTeam()
    const args = ['tool', 'call', 'shell_exec', '-', '--vault', 'base']
    const called = ann.feed(JSON.stringify({ command: 'cat plan.md; echo tool > tool.txt' }), ...args)
    expect(called.stdout).toContain('added\t/workspace/tool.txt')
    expect(bob.get('cat', '/tool.txt', '--vault', 'base')).toBe('tool\n')
    const lines = [
      {
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
      },
      { method: 'notifications/initialized' },
      {
        id: 2,
        method: 'tools/call',
        params: { name: 'file_read', arguments: { path: 'vfs:///workspace/tool.txt' } },
      },
    ]
    const input = lines.map((line) => `${JSON.stringify({ jsonrpc: '2.0', ...line })}\n`).join('')
    expect(bob.feed(input, 'mcp', '--vault', 'base').stdout).toContain('tool')
  })

  it('run processes by the daemon of each machine, in forks that every machine sees', () => {
    const { ann, bob } = createTeam()
    const script = join(scratch, 'script.ndjson')
    const call = { action: 'tool_call', tool: '/dev/fs/a.txt', input: { content: 'by an agent\n' } }
    writeFileSync(script, `${JSON.stringify({ say: call })}\n${JSON.stringify({ say: 'Done.' })}\n`)
    expect(ann.get('spawn', 'write', '--vault', 'base', '--script', script, '--follow')).toMatch(/Done\.\n$/)
    const [{ fork }] = JSON.parse(ann.get('ps', '--all', '--json'))
    expect(bob.get('ps', '--all')).toContain('no process has run yet')
    expect(bob.get('merge', fork, 'base')).toContain('/a.txt')
    expect(ann.get('cat', '/a.txt', '--vault', 'base')).toBe('by an agent\n')
    expect(ann.get('wait', '1')).toBe('Done.\n')
    expect(ann.get('logs', '1')).toContain('ended: 0 completed')
    for (const machine of [ann, bob]) machine.get('daemon', 'stop')
  })

  it('move files, archives and git repositories to and from the home', () => {
    const { ann, bob } = createTeam()
    writeFileSync(join(ann.cwd, 'f'), 'content\n')
    ann.get('import', ann.cwd, '--vault', 'imported')
    const out = join(bob.cwd, 'out')
    bob.get('export', out, '--vault', 'imported')
    expect(readFileSync(join(out, 'f'), 'utf8')).toBe('content\n')
    ann.get('checkpoint', 'save', 'one', '--vault', 'imported')
    expect(bob.get('git', 'export', join(bob.cwd, 'git'), '--vault', 'imported')).toContain(
      'exported 1 commit',
    )
    expect(ann.get('git', 'import', join(bob.cwd, 'git'), '--vault', 'again')).toContain('imported 1 commit')
    expect(bob.get('cat', '/f', '--vault', 'again')).toBe('content\n')
  })
})

const canMount = existsSync('/dev/fuse') && process.getuid?.() === 0

describe.runIf(hasPostgres && canMount)('a vault of a shared home as a directory', () => {
  it('is leased while it is mounted, and shows others what was synced', async () => {
    const { ann, bob } = createTeam()
    const directory = join(ann.directory, 'mount')
    mkdirSync(directory)
    await using _mount = await mountVault(ann, directory)
    expect(readFileSync(join(directory, 'plan.md'), 'utf8')).toBe('one\n')
    const file = openSync(join(directory, 'new.md'), 'w')
    writeSync(file, 'synced')
    fsyncSync(file)
    closeSync(file)
    expect(bob.get('cat', '/new.md')).toBe('synced')
    expect(bob.run('write', '/no.md', '--text', 'x')).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/'base' is leased by .+@/),
    })
    expect(ann.get('ls', '/', '--vault', 'base')).toBe('new.md\nplan.md\n')
    ann.get('unmount', directory)
    await _mount.ended
    bob.get('write', '/free.md', '--text', 'x')
    expect(ann.get('fsck')).toContain('no damage')
  })

  it('refuses extended attributes if its mount has none', async () => {
    const { ann } = createTeam()
    const directory = join(ann.directory, 'mount')
    mkdirSync(directory)
    await using _mount = await mountVault(ann, directory, '--no-xattr')
    const attempt = 'import os, sys; os.setxattr(sys.argv[1], "user.a", b"b")'
    const { stderr } = spawnSync('python3', ['-c', attempt, join(directory, 'plan.md')], { encoding: 'utf8' })
    expect(stderr).toContain('Operation not supported')
  })

  it('is shipped by the next command if its server is killed', async () => {
    const { ann, bob } = createTeam()
    const directory = join(ann.directory, 'mount')
    mkdirSync(directory)
    const mount = await mountVault(ann, directory)
    writeFileSync(join(directory, 'late.md'), 'late')
    await mount.kill()
    ann.get('unmount', directory, '--lazy')
    expect(ann.get('ls', '/', '--vault', 'base')).toBe('late.md\nplan.md\n')
    expect(bob.get('cat', '/late.md')).toBe('late')
    bob.get('write', '/free.md', '--text', 'x')
  })
})

/** Kills Coppice on a machine once a shell line of a command in a vault is done. */
async function killExec(machine: Machine, line: string, ...options: readonly string[]): Promise<void> {
  const child = machine.start('exec', ...options, '-c', '--', `${line}; echo done; sleep 600`)
  const [said] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
  expect(String(said)).toBe('done\n')
  child.kill('SIGKILL')
  await once(child, 'exit')
}

/** Mounts the vault `base` by a process of a machine. */
async function mountVault(machine: Machine, directory: string, ...options: readonly string[]) {
  const server = machine.start('mount', 'base', directory, ...options)
  const ended = once(server, 'exit')
  await once(server.stdout, 'data')
  const end = async (signal: NodeJS.Signals) => {
    if (server.exitCode === null && server.signalCode === null) server.kill(signal)
    await ended
  }
  return { ended, kill: () => end('SIGKILL'), [Symbol.asyncDispose]: () => end('SIGINT') }
}
