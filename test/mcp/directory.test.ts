import { execFileSync } from 'node:child_process'
import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { openHome } from '../../src/backends/vault/index.ts'
import { Cli } from '../cli/run-cli.ts'
import { whyNoOverlay } from '../support/tools.ts'
import { users } from '../support/users.ts'
import { call, startClient, tryCall } from './mcp-client.ts'

/** A project with a repository, packages and secrets, in the directory of the program. */
function project(user?: number): Cli {
  const cli = new Cli(user)
  const write = (path: string, text: string) => {
    mkdirSync(join(cli.files, path, '..'), { recursive: true })
    writeFileSync(join(cli.files, path), text)
  }
  write('README.md', '# Shop\n')
  write('src/cart.ts', 'export const prices = []\nexport const total = 0\n')
  write('src/old.ts', 'export {}\n')
  write('node_modules/left-pad/index.js', 'module.exports = () => "padded"\n')
  write('.env', 'API_KEY=sk-live-51Hx9aBcDeFgHiJkLm\nPORT=3000\n')
  if (user !== undefined) execFileSync('chown', ['-R', `${user}:${user}`, cli.files])
  const identity = user === undefined ? {} : { uid: user, gid: user }
  const git = (...args: string[]) => execFileSync('git', args, { cwd: cli.files, ...identity })
  git('init', '-q')
  git('add', 'src', 'README.md')
  git('-c', 'user.name=a', '-c', 'user.email=a@b.c', 'commit', '-q', '-m', 'begin')
  return cli
}

/** Everything in the directory, without Git's own files. */
function listFiles(cli: Cli): string {
  return execFileSync('sh', ['-c', 'find . -path ./.git -prune -o -type f -exec sha256sum {} + | sort -k2'], {
    cwd: cli.files,
    encoding: 'utf8',
  })
}

const read = (cli: Cli, path: string) => readFileSync(join(cli.files, path), 'utf8')

describe('coppice mcp in a directory', () => {
  it.for(users)(
    'works on a fork of it, which a person applies and undoes, as $name',
    async ({ user, obstacle }, { skip }) => {
      if (obstacle !== undefined) skip(obstacle)
      const cli = project(user)
      const before = listFiles(cli)
      const { client } = await startClient(cli, [])
      expect(client.getInstructions()).toContain(`its fork 'files-1'`)
      expect(await call(client, 'file_read', { path: 'src/cart.ts' })).toContain('total = 0')
      await call(client, 'file_edit', {
        path: join(cli.files, 'src/cart.ts'),
        operation: 'replace_string',
        find: 'total = 0',
        replace: 'total = 1',
      })
      await call(client, 'write_file', { path: 'docs/new.md', content: 'new\n' })
      await call(client, 'vfs_delete', { path: 'vfs:///workspace/src/old.ts' })
      expect(await call(client, 'vfs_list', { path: 'vfs:///workspace/src' })).not.toContain('old.ts')
      const run = await call(client, 'shell_exec', {
        command:
          'cat src/cart.ts docs/new.md; ls src; node -e "console.log(require(\'left-pad\')())"; git status --short; echo more >> docs/new.md; pwd',
      })
      expect(run).toContain('total = 1')
      expect(run).toContain('padded')
      expect(run).toMatch(/^ D src\/old.ts$/m)
      expect(`${run}\n`).toContain(`\n${cli.files}\n`)
      expect(run).toContain('modified\t/workspace/docs/new.md')
      expect(await call(client, 'file_read', { path: 'docs/new.md' })).toContain('more')
      const patch = await call(client, 'workspace_diff', {})
      expect(patch).toContain('-export const total = 0')
      expect(listFiles(cli)).toBe(before)

      expect(await cli.ok('forks')).toMatch(/^files-1 +now +3 files \+3 -2 +runs coppice mcp$/m)
      expect(await cli.ok('diff', '--stat')).toContain('3 paths')
      expect((await cli.run(['drop', 'files-1'])).stderr).toContain("in use by 'coppice mcp'")
      await cli.ok('apply', 'files-1')
      expect(read(cli, 'docs/new.md')).toBe('new\nmore\n')
      expect(read(cli, 'src/cart.ts')).toContain('total = 1')
      expect(existsSync(join(cli.files, 'src/old.ts'))).toBe(false)
      // The fork goes on from the directory.
      await call(client, 'write_file', { path: 'docs/new.md', content: 'again\n' })
      expect(await call(client, 'workspace_diff', { format: 'files' })).toBe(
        'modified\t/workspace/docs/new.md',
      )
      expect(read(cli, 'docs/new.md')).toBe('new\nmore\n')
      await cli.ok('apply', '--undo')
      expect(listFiles(cli)).toBe(before)
      await client.close()
      await vi.waitFor(async () => expect(await cli.ok('forks')).not.toContain('runs'), 20_000)
      await cli.ok('drop', '--force')
      expect(await cli.ok('forks')).toContain('no forks')
    },
  )

  it('shows no values of secret files, and apply puts them back', async () => {
    const cli = project()
    const before = read(cli, '.env')
    symlinkSync('.env', join(cli.files, 'settings'))
    linkSync(join(cli.files, '.env'), join(cli.files, 'second-name'))
    const { client } = await startClient(cli, [])
    const shown = [
      await call(client, 'file_read', { path: '.env' }),
      await call(client, 'file_read', { path: 'settings' }),
      await call(client, 'file_read', { path: 'second-name' }),
      await call(client, 'file_grep', { path: 'vfs:///workspace', pattern: 'API_KEY' }),
      await call(client, 'shell_exec', { command: 'cat .env second-name' }),
    ]
    for (const text of shown) {
      expect(text).toContain('API_KEY=')
      expect(text).not.toContain('sk-live')
    }
    await call(client, 'file_edit', {
      path: '.env',
      operation: 'replace_string',
      find: 'PORT=3000',
      replace: 'PORT=4000',
    })
    await call(client, 'shell_exec', { command: 'echo MORE=1 >> .env' })
    expect(await call(client, 'workspace_diff', {})).not.toContain('sk-live')
    expect(await cli.ok('diff')).not.toContain('sk-live')
    await cli.ok('apply')
    expect(read(cli, '.env')).toBe(`${before.replace('3000', '4000')}MORE=1\n`)
    await cli.ok('apply', '--undo')
    expect(read(cli, '.env')).toBe(before)
  })

  it('reports commits and large new directories in a line each', async () => {
    const cli = project()
    const { client } = await startClient(cli, [])
    utimesSync(join(cli.files, 'README.md'), 1_700_000_000, 1_700_000_000)
    // Git writes its index again, which is no change.
    expect(await call(client, 'shell_exec', { command: 'git status --short' })).not.toContain('changed')
    const install = 'mkdir packages && for i in $(seq 150); do echo $i > packages/$i; done'
    const commit = 'git checkout -q -b feat && git -c user.name=a -c user.email=b commit -q -a -m work'
    const run = await call(client, 'shell_exec', { command: `${install}; echo more >> README.md; ${commit}` })
    expect(run.slice(run.indexOf('--- changed')).split('\n').slice(0, 4)).toEqual([
      '--- changed',
      'added\t/workspace/packages/\t(150 files)',
      'modified\t/workspace/README.md',
      'git\t1 commit on feat, feat checked out',
    ])
    const patch = await call(client, 'workspace_diff', {})
    expect(patch).toMatch(
      /^added \/packages\/ \(150 files\)\ngit: 1 commit on feat, feat checked out\ndiff --git a\/README.md/,
    )
    expect(patch).not.toContain('.git/')
    expect(await call(client, 'workspace_diff', { format: 'files' })).toContain('/.git/refs/heads/feat')
  })

  it('leaves nothing of a fork that was only read', async () => {
    const cli = project()
    const { client } = await startClient(cli, [])
    await call(client, 'file_read', { path: 'README.md' })
    await call(client, 'shell_exec', { command: 'ls; true' })
    await client.close()
    await vi.waitFor(async () => expect(await cli.ok('forks')).toContain('no forks'), 20_000)
    expect(await cli.ok('vault', 'list')).not.toContain('files-')
  })

  it('gives each of two servers a fork, and continues one by its name from a subdirectory', async () => {
    const cli = project()
    const [one, two] = [await startClient(cli, []), await startClient(cli, [])]
    await call(one.client, 'write_file', { path: 'who', content: 'one' })
    await call(two.client, 'write_file', { path: 'who', content: 'two' })
    expect(await call(one.client, 'file_read', { path: 'who' })).toContain('one')
    await two.client.close()
    const cwd = join(cli.files, 'src')
    const { client } = await startClient(cli, ['--fork', 'files-2'], { cwd })
    expect(await call(client, 'file_read', { path: 'who' })).toContain('two')
    expect(await call(client, 'shell_exec', { command: 'cat who' })).toContain('two')
    const { fork, directory } = { fork: 'files-2', directory: cli.files }
    expect(await cli.json('forks')).toContainEqual(expect.objectContaining({ fork, directory, files: 1 }))
  })

  it('lets commands and another server into a fork without changes', async () => {
    const cli = project()
    const { client } = await startClient(cli, ['--fork', 'task'])
    expect(await cli.ok('diff', 'task')).toBe('')
    expect(await cli.ok('apply', 'task')).toContain('this directory already has all changes of task')
    expect(await cli.ok('compare', 'task')).toContain('0 files')
    const { client: other } = await startClient(cli, ['--fork', 'task'])
    // The first one would delete a fork of its own that has no changes.
    await client.close()
    await vi.waitFor(async () => expect(await cli.ok('forks')).not.toContain('runs'), 20_000)
    await call(other, 'write_file', { path: 'b.txt', content: 'b' })
    const run = await cli.run(['exec', '--fork', 'task', '--', 'sh', '-c', 'cat b.txt > c.txt'])
    expect(run.stderr).toContain('A /c.txt')
    expect(await call(other, 'file_read', { path: 'c.txt', numbered: false })).toBe('b')
    expect(await cli.ok('enter', 'task', '--', 'cat', 'c.txt')).toBe('b')
    expect(await cli.ok('diff', 'task', '--stat')).toContain('2 paths')
  })

  it('keeps the changes of a command that ends after the server', async () => {
    const cli = project()
    const { client } = await startClient(cli, ['--fork', 'task'])
    const run = cli.run(['exec', '--fork', 'task', '--', 'sh', '-c', 'sleep 2; echo late > late.txt'])
    await vi.waitFor(async () => expect(await cli.ok('forks')).toMatch(/^task .* 0 files/m), 20_000)
    await client.close()
    expect(await run).toMatchObject({ code: 0 })
    expect(await cli.ok('diff', 'task')).toContain('+late')
  })

  it('loses nothing that it acknowledged when it is killed', async () => {
    const cli = project()
    const { client, transport } = await startClient(cli, [])
    await call(client, 'write_file', { path: 'written', content: 'by a tool\n' })
    await call(client, 'shell_exec', { command: 'echo by a command > run' })
    process.kill(Number(transport.pid), 'SIGKILL')
    const diff = await cli.ok('diff')
    expect(diff).toContain('+by a command')
    expect(diff).toContain('+by a tool')
    expect(await cli.ok('forks')).not.toContain('runs')
    await cli.ok('apply')
    expect(read(cli, 'written')).toBe('by a tool\n')
    await cli.ok('fsck')
  })

  it('keeps what tools write while a command runs', async () => {
    const cli = project()
    const { client } = await startClient(cli, [])
    await call(client, 'write_file', { path: 'a', content: 'first\n' })
    await call(client, 'write_file', { path: 'gone', content: 'x\n' })
    const { promise: begun, resolve: onprogress } = Promise.withResolvers<unknown>()
    const command = 'echo begun; rm gone; echo made > made; until grep -q go README.md; do sleep 0.05; done'
    const running = client.callTool({ name: 'shell_exec', arguments: { command } }, { onprogress })
    await begun
    await call(client, 'write_file', { path: 'a', content: 'second\n' })
    await call(client, 'write_file', { path: 'b', content: 'new\n' })
    writeFileSync(join(cli.files, 'README.md'), 'go\n')
    expect(JSON.stringify(await running)).toContain('/workspace/made')
    expect(await call(client, 'file_read', { path: 'a' })).toContain('second')
    expect(await call(client, 'workspace_diff', { format: 'files' })).toBe(
      ['a', 'b', 'made'].map((name) => `added\t/workspace/${name}`).join('\n'),
    )
  })

  it.skipIf(whyNoOverlay() !== undefined).each([[[]], [['first']]])(
    'loses nothing of a command when its server is killed, after edits of %j',
    async (edited) => {
      const cli = project()
      const { client, transport } = await startClient(cli, [])
      for (const path of edited) await call(client, 'write_file', { path, content: 'by a tool\n' })
      const { promise: begun, resolve: onprogress } = Promise.withResolvers<unknown>()
      const command = 'echo made > made; echo more >> README.md; echo begun; sleep 600'
      const running = client.callTool({ name: 'shell_exec', arguments: { command } }, { onprogress })
      await begun
      process.kill(transport.pid ?? 0, 'SIGKILL')
      await expect(running).rejects.toThrow()
      expect((await cli.run(['forks'])).stderr).toContain('a command of files-1 was killed; the fork has its')
      const changed = await cli.json('diff', 'files-1')
      expect(JSON.stringify(changed)).toContain('/made')
      expect(await cli.ok('diff', 'files-1', '--stat')).toContain(`${2 + edited.length} paths`)
    },
  )

  it.skipIf(whyNoOverlay() !== undefined)(
    'keeps what a command changed in a vault in a fork when its server is killed',
    async () => {
      const cli = project()
      await cli.ok('import', '.', '--vault', 'base')
      const { client, transport } = await startClient(cli, ['--vault', 'base'])
      const { promise: begun, resolve: onprogress } = Promise.withResolvers<unknown>()
      const command = 'echo made > made; echo begun; sleep 600'
      const running = client.callTool({ name: 'shell_exec', arguments: { command } }, { onprogress })
      await begun
      process.kill(transport.pid ?? 0, 'SIGKILL')
      await expect(running).rejects.toThrow()
      expect((await cli.run(['vault', 'list'])).stderr).toBe(
        'coppice: a command of base-1 was killed; the fork has its changes now\n',
      )
      expect(await cli.ok('diff', '--vault', 'base-1')).toBe('A /made\n')
      await cli.ok('gc')
      await using home = await openHome({ path: cli.home })
      expect((await home.vaults()).filter((name) => name.startsWith('session-'))).toEqual([])
    },
  )

  it('goes back to a checkpoint, and shows the changes since', async () => {
    const cli = project()
    const { client } = await startClient(cli, [])
    await call(client, 'write_file', { path: 'new', content: 'first\n' })
    await call(client, 'workspace_checkpoint', { name: 'then' })
    await call(client, 'shell_exec', { command: 'echo second > new; rm src/old.ts; echo x >> README.md' })
    expect(await call(client, 'workspace_diff', { since: 'then', format: 'files' })).toBe(
      'modified\t/workspace/README.md\nmodified\t/workspace/new\ndeleted\t/workspace/src/old.ts',
    )
    expect(await call(client, 'workspace_diff', { since: 'then' })).toContain('-first\n+second')
    await call(client, 'workspace_restore', { name: 'then' })
    expect(await call(client, 'workspace_diff', { format: 'files' })).toBe('added\t/workspace/new')
    expect(await call(client, 'file_read', { path: 'src/old.ts' })).toContain('export {}')
    expect(await call(client, 'workspace_log', {})).not.toMatch(/system|README/)
  })

  it('merges another fork of the directory', async () => {
    const cli = project()
    await cli.run(['exec', '--fork', 'other', '--', 'sh', '-c', 'echo merged > merged'])
    const { client } = await startClient(cli, [])
    await call(client, 'workspace_merge', { fork: 'other' })
    expect(await call(client, 'file_read', { path: 'merged' })).toContain('merged')
    expect(existsSync(join(cli.files, 'merged'))).toBe(false)
  })

  it.each([
    ['the home of the user', (cli: Cli) => ({ cwd: cli.files, env: { HOME: cli.files } })],
    ['the root', () => ({ cwd: '/' })],
    ['a home of Coppice', (cli: Cli) => ({ cwd: cli.home })],
  ])('serves the current vault in %s, and says so', async (_what, place) => {
    const cli = project()
    await cli.ok('vault', 'create', 'base')
    const { client } = await startClient(cli, [], place(cli))
    expect(client.getInstructions()).toContain("the vault 'base'")
    const { stderr } = await cli.run(['mcp'], { env: { HOME: cli.files } })
    expect(stderr).toMatch(
      /is not a project's directory, so the workspace is the vault base; start coppice mcp/,
    )
  })

  it('does not send a model to work in a fork that it can only read', async () => {
    const { client } = await startClient(project(), ['--read-only'])
    expect(client.getInstructions()).toContain('Nothing can be changed here')
    expect(client.getInstructions()).not.toContain('Work there')
  })

  it('names the workspace in errors, and no URI that does not exist', async () => {
    const cli = project()
    const { client } = await startClient(cli, [])
    const refused = await tryCall(client, 'shell_exec', { command: 'rm -rf /' })
    expect(refused.text).toContain("exec 'vfs:///workspace'")
    expect((await tryCall(client, 'file_read', { path: '/etc/passwd' })).text).toContain(
      'give a vfs:/// URI, such as vfs:///workspace/src/a.ts',
    )
    expect((await tryCall(client, 'vfs_list', { path: '/etc/passwd' })).text).toContain(
      `takes vfs:/// URIs and paths below ${cli.files}, such as vfs:///workspace/src/a.ts`,
    )
    await call(client, 'workspace_fork', { name: 'try' })
    expect((await tryCall(client, 'workspace_merge', { fork: 'none' })).text).toMatch(
      /has no fork 'none'; its forks: try, .*fork 'vfs:\/\/\/workspace'$/,
    )
    expect((await tryCall(client, 'file_read', { path: '/etc/passwd' })).text).toContain(
      `not available here, except below ${cli.files};`,
    )
    expect((await tryCall(client, 'file_read', { path: '/workspace/README.md' })).text).toContain(
      'did you mean vfs:///workspace/README.md?',
    )
  })

  it('refuses the name of a fork that is none', async () => {
    const cli = project()
    const run = await cli.run(['mcp', '--fork', '../a'])
    expect(run).toMatchObject({ code: 1, stderr: expect.stringContaining('1 to 64 letters') })
  })

  it('leaves other directories of this machine closed, also through links', async () => {
    const cli = project()
    symlinkSync('/etc', join(cli.files, 'etc'))
    const { client } = await startClient(cli, [], { roots: ['/etc'] })
    for (const path of ['/etc/passwd', 'etc/passwd', `${cli.files}/etc/passwd`, `${cli.files}/../home`])
      expect(await tryCall(client, 'file_read', { path })).toMatchObject({ isError: true })
  })
})
