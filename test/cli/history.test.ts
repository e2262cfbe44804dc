import { describe, expect, it } from 'vitest'
import { Cli } from './run-cli.ts'

describe('the history commands', () => {
  it('list versions, read one, revert to it, and show the author of each line', async () => {
    const cli = new Cli()
    await cli.ok('vault', 'create', 'base')
    await cli.run(['write', '/plan', '--text', 'one\ntwo'], { env: { COPPICE_CONTEXT: 'alice' } })
    await cli.run(['write', '/plan', '--text', 'one\nTWO\nthree', '--trace', 'call-1'], {
      env: { COPPICE_CONTEXT: 'bob' },
    })
    const versions = await cli.json('versions', '/plan')
    expect(versions).toMatchObject([
      { size: 14, caller: { context: 'bob' } },
      { size: 8, caller: { context: 'alice' } },
    ])
    const [, first] = versions as { version: string }[]
    expect(await cli.ok('cat', '/plan', '--rev', first?.version ?? '')).toBe('one\ntwo\n')
    expect(await cli.json('blame', '/plan')).toMatchObject([
      { line: 1, text: 'one', caller: { context: 'alice' } },
      { line: 2, text: 'TWO', caller: { context: 'bob' }, trace: 'call-1' },
      { line: 3, text: 'three' },
    ])
    await cli.ok('revert', '/plan', first?.version ?? '')
    expect(await cli.ok('cat', '/plan')).toBe('one\ntwo\n')
    const log = (await cli.ok('log', '/plan', '--json', '--oldest-first')).trimEnd().split('\n')
    expect(log.map((line) => JSON.parse(line).caller.context)).toEqual(['alice', 'bob', 'tester'])
    expect((await cli.ok('log', '--caller', 'bob', '--json')).trimEnd().split('\n')).toHaveLength(1)
  })

  it('list the versions of a deleted file, and report a file that never existed', async () => {
    const cli = new Cli()
    await cli.ok('vault', 'create', 'base')
    await cli.ok('write', '/gone', '--text', 'x')
    await cli.ok('rm', '/gone')
    expect(await cli.json('versions', '/gone')).toMatchObject([{ size: 2 }])
    const never = await cli.run(['versions', '/src/never'])
    expect(never).toMatchObject({ code: 1, stdout: '' })
    expect(never.stderr).toMatch(
      /^coppice: \/src\/never: no such file or directory; see .*coppice ls \/src\n$/,
    )
    expect(JSON.parse((await cli.run(['versions', '/never', '--json'])).stderr)).toMatchObject({
      error: { code: 'ENOENT', path: '/never' },
    })
  })

  it('show the changes of a merge, and find removed files', async () => {
    const cli = new Cli()
    await cli.ok('vault', 'create', 'base')
    for (const path of ['/a', '/b']) await cli.ok('write', path, '--text', 'x')
    await cli.ok('fork', 'base', 'task')
    for (const path of ['/c', '/d', '/e']) await cli.ok('write', path, '--text', 'x', '--vault', 'task')
    await cli.ok('rm', '/a', '--vault', 'task')
    await cli.ok('merge', 'task', '--trace', 'call-3')
    const [line = ''] = (await cli.ok('log', '--op', 'remove', '--vault', 'base')).split('\n')
    expect(line).toMatch(/ merge +(\/[acde], ){3}… 4 paths \(call-3\)$/)
    const { paths } = JSON.parse(await cli.ok('log', '-n', '1', '--vault', 'base', '--json'))
    expect(paths.sort()).toEqual(['/a', '/c', '/d', '/e'])
  })

  it('save, describe and delete checkpoints', async () => {
    const cli = new Cli()
    await cli.ok('vault', 'create', 'base')
    await cli.ok('checkpoint', 'save', 'one', '-m', 'empty')
    await cli.ok('write', '/a', '--text', 'a')
    expect(await cli.json('checkpoint', 'info', 'one')).toMatchObject({
      description: 'empty',
      changesSince: 1,
    })
    expect(await cli.json('checkpoint', 'list')).toMatchObject([{ name: 'one' }])
    await cli.ok('checkpoint', 'save', 'odd', '-m', 'first\nsecond\u001b[31m')
    expect(await cli.ok('checkpoint', 'list')).toMatch(/^odd .* {2}"first\\nsecond\\033\[31m"$/m)
    expect(await cli.ok('checkpoint', 'info', 'odd')).toContain('about       "first\\nsecond')
    expect(await cli.ok('ls', '--at', 'one')).toBe('')
    await cli.ok('fork', 'base', 'early', '--at', 'one')
    expect(await cli.ok('ls', '--vault', 'early')).toBe('')
    expect(await cli.ok('diff', 'base@one', '--vault', 'base')).toBe('A /a\n')
    expect(await cli.ok('diff', 'vault:base', '--vault', 'early')).toBe('D /a\n')
    await cli.ok('checkpoint', 'delete', 'one', '--vault', 'base')
    const gone = await cli.run(['checkpoint', 'restore', 'one', '--vault', 'base'])
    expect(gone).toMatchObject({ code: 1, stdout: '' })
    expect(gone.stderr).toContain("'one'")
  })

  it('tag files, set metadata, and limit the size of a vault', async () => {
    const cli = new Cli()
    await cli.ok('vault', 'create', 'base')
    await cli.ok('write', '/a', '--text', 'shopping cart')
    await cli.ok('tag', 'add', '/a', 'reviewed', 'urgent')
    await cli.ok('tag', 'remove', '/a', 'urgent', '--trace', 'call-2')
    expect(await cli.ok('log', '-n', '1')).toMatch(/ tag +\/a \(call-2\)\n$/)
    expect(await cli.json('tag', 'list', '/a')).toEqual(['reviewed'])
    expect(await cli.json('tag', 'list')).toEqual([{ tag: 'reviewed', count: 1 }])
    expect(await cli.ok('tag', 'find', 'reviewed')).toBe('/a\n')
    await cli.ok('meta', 'set', '/a', 'owner', 'alice')
    expect(await cli.ok('meta', 'get', '/a', 'owner')).toBe('alice\n')
    expect(await cli.json('meta', 'list', '/a')).toEqual({ owner: 'alice' })
    await cli.ok('meta', 'remove', '/a', 'owner')
    expect((await cli.run(['meta', 'get', '/a', 'owner'])).code).toBe(1)
    expect(await cli.ok('search', 'cart')).toContain('/a\n  1: shopping cart')
    expect(await cli.run(['search', 'unheard'])).toEqual({ code: 1, stdout: '', stderr: '' })
    await cli.ok('quota', 'set', '--file-size', '1K', '--files', '10')
    const full = await cli.run(['write', '/large'], { input: 'x'.repeat(2000) })
    expect(full.code).toBe(1)
    await cli.ok('quota', 'set', '--file-size', 'none', '--trace', 'call-3')
    expect(await cli.ok('log', '-n', '1')).toMatch(/ \S*\w\S* +quota +\/ \(call-3\)\n$/)
    expect(await cli.json('quota', 'show')).toMatchObject({
      quota: { files: 10 },
      usage: { files: 1, bytes: 14 },
    })
  })
})

it('report a path, tag or value that never existed', async () => {
  const cli = new Cli()
  await cli.ok('vault', 'create', 'base')
  await cli.ok('write', '/a', '--text', 'here')
  await cli.ok('write', '/gone/b', '--text', 'was here')
  await cli.ok('rm', '-r', '/gone')
  await cli.ok('tag', 'add', '/a', 'kept')
  const refused = async (...args: string[]) => {
    const { code, stdout, stderr } = await cli.run(args)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    return stderr
  }
  expect(await refused('log', '/never')).toContain('/never: no such file or directory')
  expect(await refused('log', '/never', '--json')).toContain('"ENOENT"')
  expect(await refused('tag', 'remove', '/a', 'kept', 'unheard')).toContain("/a has no tag 'unheard'")
  expect(await refused('meta', 'remove', '/a', 'unheard')).toContain("/a has no value 'unheard'")
  expect(await cli.json('tag', 'list', '/a')).toEqual(['kept'])
  expect(await cli.ok('log', '/gone/b')).toMatch(/ write +\/gone\/b/)
  expect(await cli.ok('log', '/a', '--caller', 'nobody')).toBe('')
  await cli.ok('fork', 'base', 'task')
  expect(await cli.ok('log', '/gone', '--vault', 'task')).toBe('')
})

describe('the commands for a home', () => {
  it('check it, collect garbage, count it, and send a vault to another', async () => {
    const cli = new Cli()
    await cli.ok('vault', 'create', 'base', '--engine', 'lmdb')
    await cli.ok('write', '/a', '--text', 'sent')
    expect(await cli.json('fsck')).toMatchObject({ damaged: [] })
    expect(await cli.json('gc')).toMatchObject({ pages: expect.any(Number) })
    expect(await cli.run(['gc', '--keep-history', '12'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("such as 30d or 2026-01-31, not '12'"),
    })
    await cli.ok('gc', '--keep-history', '2026-01-31')
    expect(await cli.run(['gc', '--pack-after', '2026-01-31'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("such as 12h or 7d, not '2026-01-31'"),
    })
    expect(await cli.json('stats')).toMatchObject({ vaults: 1, files: 1, engine: 'lmdb' })
    const other = await cli.run(['vault', 'create', 'two', '--engine', 'sqlite'])
    expect(other).toMatchObject({ code: 2, stdout: '' })
    expect(other.stderr).toContain('uses the engine lmdb')
  })
})
