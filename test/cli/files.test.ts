import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Cli } from './run-cli.ts'

async function cliWithVault(): Promise<Cli> {
  const cli = new Cli()
  await cli.ok('vault', 'create', 'base')
  return cli
}

describe('the file commands', () => {
  it('store nothing in directories of the kernel, unless a vault is named', async () => {
    const cli = await cliWithVault()
    await cli.ok('write', '/a/dev', '--text', 'content')
    for (const args of [
      ['mkdir', '-p', '/dev/x'],
      ['mkdir', 'proc'],
      ['write', '/sys/x', '--text', 'x'],
      ['cp', '/a/dev', '/dev/null'],
      ['cp', '/a/dev', '/'],
      ['cp', '/proc/self/status', '/b'],
      ['mv', '/a/dev', '/mnt/mcp'],
      ['rm', '-r', '/dev'],
      ['import', cli.scratch, '--into', '/dev'],
    ]) {
      const { code, stderr } = await cli.run(args)
      expect([code, stderr], args.join(' ')).toEqual([
        1,
        expect.stringMatching(/^coppice: .*\/\S+ belongs to the daemon; .* use --vault\n$/),
      ])
    }
    expect(await cli.ok('find')).toBe('/a\n/a/dev\n')
    await cli.ok('write', '/dev/x', '--text', 'mine', '--vault', 'base')
    expect(await cli.ok('cat', '/dev/x', '--vault', 'base')).toBe('mine\n')
    await cli.ok('rm', '-r', '/dev', '--vault', 'base')
  })

  it('write, read, list, copy, move and remove', async () => {
    const cli = await cliWithVault()
    await cli.run(['write', '/docs/plan.md'], { input: 'one\ntwo\nthree\nfour\n' })
    expect(await cli.ok('cat', 'docs/plan.md')).toBe('one\ntwo\nthree\nfour\n')
    expect(await cli.ok('cat', '/docs/plan.md', '--lines', '2-3')).toBe('two\nthree\n')
    await cli.ok('write', '/docs/plan.md', '--append', '--text', 'five')
    expect(await cli.ok('cat', '/docs/plan.md', '--lines', '5')).toBe('five\n')
    await cli.ok('mkdir', '-p', '/archive/old')
    await cli.ok('cp', '/docs', '/archive')
    await cli.ok('mv', '/archive/docs/plan.md', '/archive/old')
    expect(await cli.ok('tree')).toBe(
      [
        '/',
        '├── archive/',
        '│   ├── docs/',
        '│   └── old/',
        '│       └── plan.md',
        '└── docs/',
        '    └── plan.md\n',
      ].join('\n'),
    )
    expect(await cli.json('stat', '/docs/plan.md')).toMatchObject({
      type: 'file',
      size: 24,
      path: '/docs/plan.md',
    })
    const refused = await cli.run(['rm', '/archive'])
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toBe(
      'coppice: /archive: illegal operation on a directory; list it with coppice ls /archive, remove it with coppice rm -r /archive\n',
    )
    await cli.ok('rm', '-r', '/archive')
    expect(await cli.ok('ls')).toBe('docs/\n')
  })

  it('find lines and files, and exit with 1 if there are none', async () => {
    const cli = await cliWithVault()
    await cli.ok('write', '/src/cart.ts', '--text', 'const total = 1\n// TODO: add up\nexport { total }')
    await cli.ok('write', '/src/cart.test.ts', '--text', 'test')
    expect(await cli.ok('grep', 'TODO')).toBe('/src/cart.ts:2:// TODO: add up\n')
    expect(await cli.ok('grep', '-i', '-C1', 'todo|nothing', '/src')).toBe(
      '/src/cart.ts-1-const total = 1\n/src/cart.ts:2:// TODO: add up\n/src/cart.ts-3-export { total }\n',
    )
    expect(await cli.ok('grep', '-C1', 'total')).toMatch(/add up\n--\n.*add up\n.*total \}\n$/s)
    expect(await cli.json('grep', '-l', 't')).toEqual(['/src/cart.test.ts', '/src/cart.ts'])
    expect(await cli.run(['grep', '-F', 'a.b('])).toEqual({ code: 1, stdout: '', stderr: '' })
    expect(await cli.run(['grep', '('])).toMatchObject({ code: 2 })
    expect(await cli.ok('find', '--name', '*.test.ts')).toBe('/src/cart.test.ts\n')
    expect(await cli.json('find', '--type', 'd')).toMatchObject([{ path: '/src', type: 'directory' }])
  })

  const refusals: [words: string[], code: number, message: string][] = [
    [['mkdir', '/a/b'], 1, '/a/b: no such file or directory; -p also creates missing parents'],
    [['mkdir', '/dir'], 1, '/dir: file already exists; -p accepts an existing directory'],
    [['cp', '/dir', '/dir/sub'], 1, "/dir: '/dir/sub' is the same path or lies inside it"],
    [['mv', '/dir', '/dir/sub'], 1, "/dir: '/dir/sub' lies inside it"],
    [['cat', '/f', '--lines', '0'], 2, '--lines counts from 1'],
    [['cat', '/f', '--lines', '3-1'], 2, '--lines 3-1 ends before it begins'],
    [['cat', '-dash'], 2, "there is no option '-d'; put -- before a name that starts with a dash; see "],
    [['export', 'out.tar.xz'], 2, 'cannot write the archive out.tar.xz; name a .tar, .tar.gz, .tgz or .zip'],
    [['exec', 'ls', '-la'], 2, "there is no option '-l'; put -- before the <command> and its options; see "],
  ]

  it('report refusals with the path and the next step', async () => {
    const cli = new Cli()
    await cli.ok('vault', 'create', 'base')
    await cli.ok('mkdir', '/dir')
    await cli.ok('write', '/f', '--text', 'x')
    for (const [words, code, message] of refusals) {
      const run = await cli.run(words)
      expect(run, words.join(' ')).toMatchObject({ code, stdout: '' })
      expect(run.stderr).toContain(`coppice: ${message}`)
    }
  })

  it('accept names with special characters', async () => {
    const cli = await cliWithVault()
    const names = [
      '/line\nend',
      '/"quoted" \'name\'',
      '/-rf',
      '/🌱 sprout',
      '/\u001b[31mred',
      '/%s_back\\slash',
    ]
    for (const name of names) await cli.ok('write', name, '--text', `content of ${name}`)
    await cli.ok('write', '--text', 'dash', '--', '-dash')
    expect(await cli.ok('cat', '--', '-dash')).toBe('dash\n')
    const listed = await cli.json('find', '--type', 'f')
    expect(listed).toMatchObject([...names, '/-dash'].sort().map((path) => ({ path })))
    expect(await cli.ok('cat', '--', '/line\nend')).toBe('content of /line\nend\n')
    const text = await cli.ok('ls')
    expect(text).toContain('"line\\nend"')
    expect(text).toContain('"\\033[31mred"')
    expect(text).toContain('🌱 sprout')
  })

  it('stream a large file in and out, and end quietly when the reader leaves', async () => {
    const cli = await cliWithVault()
    const content = randomBytes(24 * 1024 * 1024)
    const writer = cli.start(['write', '/large'])
    writer.stdin.end(content)
    expect(await once(writer, 'close')).toEqual([0, null])
    const reader = cli.start(['cat', '/large'])
    const hash = createHash('sha256')
    for await (const chunk of reader.stdout) hash.update(chunk)
    expect(hash.digest('hex')).toBe(createHash('sha256').update(content).digest('hex'))
    const left = cli.start(['cat', '/large'])
    let complaints = ''
    left.stderr.on('data', (chunk) => {
      complaints += chunk
    })
    await once(left.stdout, 'data')
    left.stdout.destroy()
    expect(await once(left, 'close')).toEqual([0, null])
    expect(complaints).toBe('')
  })

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('leave no file behind when the writing is interrupted by %s', async (signal, code) => {
    const cli = await cliWithVault()
    const writer = cli.start(['write', '/half'])
    writer.stdin.on('error', () => {})
    // More than a pipe holds: once it is written, the command has started to read.
    await new Promise((resolve) => writer.stdin.write(randomBytes(4 * 1024 * 1024), resolve))
    writer.kill(signal)
    expect(await once(writer, 'close')).toEqual([code, null])
    expect(await cli.ok('ls')).toBe('')
  })
})

describe('the vault a command works on', () => {
  it('is the named one, the current one, or the only one; otherwise the vaults are listed', async () => {
    const cli = new Cli()
    const nowhere = await cli.run(['ls'])
    expect(nowhere).toMatchObject({ code: 1, stdout: '' })
    expect(nowhere.stderr).toContain('create one with: coppice vault create')
    await cli.ok('vault', 'create', 'one')
    await cli.ok('write', '/only', '--text', '1')
    await cli.ok('vault', 'create', 'two')
    const several = await cli.run(['ls'])
    expect(several.code).toBe(1)
    expect(several.stderr).toContain('name one with --vault')
    expect(several.stderr).toContain('(one, two)')
    expect(await cli.ok('ls', '--vault', 'one')).toBe('only\n')
    await cli.ok('vault', 'use', 'one')
    expect(await cli.ok('ls')).toBe('only\n')
    expect(await cli.ok('ls', '--vault', 'two')).toBe('')
  })

  it('is refused with file and line if the configuration is invalid', async () => {
    const cli = await cliWithVault()
    writeFileSync(join(cli.home, 'config.toml'), '# mine\nvalut = "base"\n')
    const run = await cli.run(['ls'])
    expect(run).toMatchObject({ code: 1, stdout: '' })
    expect(run.stderr).toContain(
      "config.toml:2: there is no setting 'valut'; known: vault, engine, durability",
    )
  })
})
