import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openNamespace } from '../../src/namespace/index.ts'
import { readText } from '../../src/vfs/index.ts'
import { Cli } from './run-cli.ts'

const TASKS = 'vfs:///shared/tasks.md'

function configured(text: string): Cli {
  const cli = new Cli()
  mkdirSync(cli.home)
  writeFileSync(join(cli.home, 'config.toml'), text)
  return cli
}

function call(cli: Cli, tool: string, args: object, ...more: string[]): Promise<string> {
  return cli.ok('tool', 'call', tool, '--args', JSON.stringify(args), ...more)
}

describe('coppice tool', () => {
  it('lists the tools, with those of the workspace if there is one, and schemas as JSON', async () => {
    const cli = new Cli()
    const listed = await cli.ok('tool', 'list')
    expect(listed).toMatch(/^vfs_list {2,}\S/m)
    expect(listed).toMatch(/^workspace_diff .*^shell_exec /ms)
    // Its own home directory is no project.
    const wide = await cli.run(['tool', 'list'], { env: { HOME: cli.files } })
    expect(wide.stdout).toContain('vfs_list')
    expect(wide.stdout).not.toContain('workspace_diff')
    expect(existsSync(cli.home)).toBe(false)
    await cli.ok('vault', 'create', 'base')
    for (const place of [[], ['--vault', 'base']]) expect(await cli.ok('tool', 'list', ...place)).toBe(listed)
    expect(await cli.json('forks')).toEqual([])
    expect(await cli.json('tool', 'list')).toContainEqual(
      expect.objectContaining({
        name: 'vfs_copy',
        hints: expect.objectContaining({ readOnly: false }),
        inputSchema: expect.objectContaining({ required: ['src', 'dst'] }),
      }),
    )
  })

  it('calls a tool with arguments from --args, --json or standard input', async () => {
    const cli = new Cli()
    await call(cli, 'write_file', { path: TASKS, content: '- [ ] plan\n' })
    expect(await call(cli, 'file_head', { path: TASKS })).toBe('- [ ] plan\n')
    const answer = await cli.ok('tool', 'call', 'file_head', '--json', JSON.stringify({ path: TASKS }))
    expect(await cli.ok('tool', 'call', 'file_head', JSON.stringify({ path: TASKS }))).toContain('- [ ] plan')
    expect(JSON.parse(answer)).toEqual({ text: expect.stringContaining('- [ ] plan'), isError: false })
    const input = JSON.stringify({ path: TASKS, lines: 1 })
    for (const place of [['-'], ['--args', '-'], ['--json', '-']]) {
      const run = await cli.run(['tool', 'call', 'file_head', ...place], { input })
      expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining('- [ ] plan') })
    }
  })

  it('works on a fork of the directory, which is named if it changed, and continued with --fork', async () => {
    const cli = new Cli()
    execFileSync('git', ['init', '-q', cli.files])
    writeFileSync(join(cli.files, 'a.txt'), 'one\n')
    expect(await call(cli, 'file_read', { path: 'a.txt' })).toContain('one')
    const edit = JSON.stringify({ path: 'a.txt', content: 'two\n' })
    const written = await cli.run(['tool', 'call', 'write_file', '--args', edit])
    expect(written).toMatchObject({
      code: 0,
      stderr: `coppice: works in files-1, a fork of ${realpathSync(cli.files)}; see coppice diff files-1, keep it with coppice apply files-1\n`,
    })
    expect(readFileSync(join(cli.files, 'a.txt'), 'utf8')).toBe('one\n')
    const said = await call(cli, 'shell_exec', { command: 'cat a.txt; echo x > b.txt' }, '--fork', 'files-1')
    expect(said).toContain('two\n')
    // Calls without changes left no fork.
    expect(await cli.json('forks')).toMatchObject([{ fork: 'files-1' }])
    await cli.ok('apply', 'files-1')
    expect(readFileSync(join(cli.files, 'b.txt'), 'utf8')).toBe('x\n')
  })

  it('says why there is no workspace if a call fails for that reason', async () => {
    const cli = new Cli()
    const args = JSON.stringify({ path: 'vfs:///workspace/a.txt' })
    const { code, stderr } = await cli.run(['tool', 'call', 'file_read', '--args', args], {
      env: { HOME: cli.files },
    })
    expect(code).toBe(1)
    expect(stderr).toMatch(/is not a project's directory, so there is no workspace; .*--vault\n$/)
  })

  it('exits with 1 for a failed tool, and with 2 for a wrong call', async () => {
    const cli = new Cli()
    const denied = await cli.run([
      'tool',
      'call',
      'write_file',
      '--args',
      '{"path":"vfs:///home/bob/x","content":""}',
    ])
    expect(denied).toMatchObject({ code: 1, stdout: '' })
    expect(denied.stderr).toMatch(
      /^coppice: EACCES: 'tester' may not change this; it may write below .*\/home\/tester/,
    )
    const asJson = await cli.run(['tool', 'call', 'vfs_list', '--json', '{"path":"vfs:///gone"}'])
    expect(asJson.code).toBe(1)
    expect(JSON.parse(asJson.stdout)).toMatchObject({
      isError: true,
      error: { code: 'ENOENT', path: 'vfs:///gone' },
    })
    expect(await cli.run(['tool', 'call', 'vfs_lsit'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/there is no tool 'vfs_lsit'/),
    })
    for (const args of [['--args', '{'], ['--args', '{}', '--json', '{}'], ['--json'], ['nonsense']]) {
      expect(await cli.run(['tool', 'call', 'vfs_list', ...args])).toMatchObject({ code: 2, stdout: '' })
    }
  })

  it('acts as the named context, in the named fork', async () => {
    const cli = new Cli()
    await cli.ok('vault', 'create', 'base')
    await call(
      cli,
      'write_file',
      { path: 'vfs:///workspace/a', content: 'x' },
      '--fork',
      'task',
      '--context',
      'alice',
    )
    await call(
      cli,
      'write_file',
      { path: 'vfs:///home/alice/a', content: 'x' },
      '--context',
      'alice',
      '--trace',
      't-1',
    )
    expect(await cli.ok('diff', '--vault', 'task')).toBe('A /a\n')
    expect(await cli.ok('ls', '--vault', 'base')).toBe('')
    expect(await cli.ok('log', '-n', '1', '--vault', 'zones')).toMatch(
      /alice +write +\/home\/alice\/a \(t-1\)/,
    )
    const nobody = await cli.run(['tool', 'list', '--context', 'System'])
    expect(nobody).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/'System' is not a valid context name: it is reserved/),
    })
  })

  it('resolves the vault of a command although the zones are in a vault too', async () => {
    const cli = new Cli()
    await cli.ok('vault', 'create', 'base')
    await cli.ok('context', 'create', 'alice')
    await cli.ok('write', '/a', '--text', 'x')
    expect(await cli.ok('ls', '--vault', 'base')).toBe('a\n')
  })
})

it('a namespace reports changes of other processes to its home', async () => {
  const cli = new Cli()
  await cli.ok('vault', 'create', 'base')
  await using namespace = await openNamespace({ home: cli.home, context: 'alice', vault: 'base' })
  const changes = namespace.watch('/')
  const first = changes.next()
  await call(cli, 'write_file', { path: TASKS, content: 'x' }, '--context', 'bob')
  expect(await first).toMatchObject({
    value: { kind: 'added', path: expect.stringMatching(/^\/(shared|home\/bob)/) },
  })
  await cli.ok('write', '/a', '--text', 'x')
  for await (const { path } of changes) if (path === '/workspace/a') break
  expect(await readText(namespace.fs, '/workspace/a')).toBe('x\n')
})

describe('completion', () => {
  it('offers tools and contexts', async () => {
    const cli = new Cli()
    await cli.ok('context', 'create', 'planner')
    const offered = async (...words: string[]) =>
      (await cli.ok('__complete', ...words)).split('\n').map((line) => line.split('\t')[0])
    expect(await offered('tool', 'call', 'vfs_m')).toEqual(['vfs_move', 'vfs_mkdir', ''])
    expect(await offered('tool', 'list', '--context', '')).toEqual(['planner', ''])
  })
})

describe('coppice context', () => {
  it('creates contexts, and the home with the first one', async () => {
    const cli = new Cli()
    expect(await cli.run(['context', 'list'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/there is no home/),
    })
    expect(await cli.ok('context', 'create', 'planner')).toBe(
      'made context planner; its files are in /home/planner\n',
    )
    expect(await cli.json('context', 'create', 'coder')).toEqual({
      name: 'coder',
      created: true,
      home: '/home/coder',
    })
    expect(await cli.json('context', 'create', 'coder')).toMatchObject({ created: false })
    expect(await cli.ok('context', 'list')).toBe('coder\nplanner\n')
    expect(await cli.run(['context', 'create', '../x'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/not a valid context name/),
    })
  })

  it('can be used by many processes at the first moment of a home', async () => {
    const cli = new Cli()
    const names = ['a', 'b', 'c', 'd']
    const runs = await Promise.all(names.map((name) => cli.run(['context', 'create', name])))
    expect(runs.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
      names.map(() => ({ code: 0, stderr: '' })),
    )
    expect(await cli.ok('context', 'list')).toBe('a\nb\nc\nd\n')
  })
})

it('the vault of the zones cannot be used as a workspace', async () => {
  const cli = new Cli()
  await cli.ok('vault', 'create', 'base')
  await call(cli, 'vfs_list', { path: 'vfs:///shared' })
  for (const args of [
    ['vault', 'use', 'zones'],
    ['vault', 'create', 'zones', '--use'],
    ['fork', 'base', 'zones'],
    ['mcp', '--vault', 'zones'],
    ['mcp', '--vault', 'base', '--fork', 'zones'],
    ['tool', 'call', 'vfs_list', '--vault', 'zones', '--args', '{"path":"vfs:///"}'],
  ]) {
    const run = await cli.run(args)
    expect(run, args.join(' ')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('holds the zones of'),
    })
  }
  expect(await cli.ok('ls', '/', '--vault', 'zones')).toContain('shared')
})

describe('coppice cache', () => {
  it('lists and clears long outputs, of one context or all', async () => {
    const cli = configured('[tools]\ntool_output_cache_threshold = 10\n')
    for (const context of ['alice', 'bob']) {
      await call(
        cli,
        'write_file',
        { path: `vfs:///home/${context}/a`, content: 'a long line\n'.repeat(9) },
        '--context',
        context,
      )
      const search = { path: `vfs:///home/${context}/a`, pattern: 'long' }
      await call(cli, 'file_grep', search, '--context', context)
    }
    const kept = await cli.json('cache', 'list', '--context', 'alice')
    expect(kept).toContainEqual(
      expect.objectContaining({ context: 'alice', tool: 'file_grep', bytes: expect.any(Number) }),
    )
    expect(await cli.ok('cache', 'list')).toMatch(/vfs:\/\/\/sys\/tool_cache\/bob\/file_grep_\w+$/m)
    expect(await cli.json('cache', 'clear', '--older-than', '1')).toEqual({ removed: 0 })
    await cli.ok('cache', 'clear', '--context', 'bob')
    expect(await cli.ok('cache', 'list', '--context', 'bob')).toBe('')
    expect(await cli.json('cache', 'list')).toEqual(kept)
    expect(await cli.ok('cache', 'clear')).toMatch(/^removed \d outputs?\n$/)
    expect(await cli.json('cache', 'list')).toEqual([])
  })
})

describe('coppice config', () => {
  it('reports a valid file, and the settings', async () => {
    const cli = configured('vault = "base"\n[mounts."/out"]\nbackend = "host"\ndirectory = "../out"\n')
    mkdirSync(join(cli.home, '../out'), { recursive: true })
    expect(await cli.ok('config', 'check')).toBe(`${cli.home}/config.toml: valid\n`)
    const shown = await cli.ok('config', 'show')
    expect(shown).toContain(`mounts."/out".directory  "${join(cli.home, '../out')}"`)
    expect(await cli.json('config', 'show')).toMatchObject({
      vault: 'base',
      mounts: { '/out': { backend: 'host' } },
    })
  })

  it('reports all problems with their lines, and so does a start', async () => {
    const cli = configured('[vfs]\nbackend = "locale"\n[tool]\n')
    const { code, stderr } = await cli.run(['config', 'check'])
    expect(code).toBe(1)
    expect(stderr).toContain(
      `config.toml:2: vfs.backend must be one of vault, local, not "locale"; did you mean 'local'?\n`,
    )
    expect(stderr).toMatch(/config\.toml:3: there is no setting 'tool'; known: .*; did you mean 'tools'\?/)
    const asJson = await cli.run(['config', 'check', '--json'])
    expect(JSON.parse(asJson.stderr)).toMatchObject({ error: { problems: [{ line: 2 }, { line: 3 }] } })
    expect((await cli.run(['tool', 'list'])).stderr).toBe(stderr)
    expect(readdirSync(cli.home)).toEqual(['config.toml'])
  })

  it('stores zones as plain files with backend local, and creates no store', async () => {
    const cli = configured('[vfs]\nbackend = "local"\n')
    const args = JSON.stringify({ path: TASKS, content: 'plan\n' })
    // Not in a project: a fork of it would need a store.
    await cli.run(['tool', 'call', 'write_file', '--args', args], { env: { HOME: cli.files } })
    expect(readFileSync(join(cli.home, 'vfs/shared/tasks.md'), 'utf8')).toBe('plan\n')
    expect(await cli.ok('context', 'list')).toBe('tester\n')
    expect(readdirSync(cli.home).sort()).toEqual(['config.toml', 'locks', 'tool_cache', 'vfs'])
  })
})
