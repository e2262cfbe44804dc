import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Cli } from './run-cli.ts'

describe('coppice diff -- PATH', () => {
  it('shows the changes of a fork below some paths, and names a path without any', async () => {
    const cli = new Cli()
    for (const name of ['src', 'docs']) {
      mkdirSync(join(cli.files, name))
      writeFileSync(join(cli.files, name, 'a'), 'a\n')
    }
    const script = 'echo b >> src/a; echo b >> docs/a; echo new > src/new'
    expect(await cli.run(['exec', '--fork', 'f', '-c', '--', script])).toMatchObject({ code: 0 })
    const listStat = async (...words: string[]) => (await cli.ok('diff', '--stat', ...words)).split('\n')
    expect(await listStat('f', '--', 'src')).toEqual([
      'M /src/a  +1 -0',
      'A /src/new  +1 -0',
      '2 paths, +2 -0 lines',
      '',
    ])
    expect(await listStat('--', '*/a', ':!docs')).toEqual(['M /src/a  +1 -0', '1 path, +1 -0 lines', ''])
    expect(await cli.ok('diff', 'f', '--', 'src/new')).toMatch(
      /^diff --git a\/src\/new b\/src\/new\n[\s\S]*\+new\n$/,
    )
    const { code, stderr } = await cli.run(['diff', 'f', '--', 'src/gone'])
    expect(code).toBe(1)
    expect(stderr).toBe(
      "coppice: there is no change at 'src/gone'; list the changes with: coppice diff f --stat\n",
    )
    const path = await cli.run(['diff', 'src/a'])
    expect(path.stderr).toContain("no fork 'src/a'; paths come after --: coppice diff -- src/a\n")
  })

  it('takes paths of a vault', async () => {
    const cli = new Cli()
    await cli.ok('vault', 'create', 'base')
    await cli.ok('fork', 'base', 'v')
    for (const path of ['/src/a', '/docs/a']) await cli.ok('write', path, '--vault', 'v', '--text', 'x')
    expect(await cli.ok('diff', '--vault', 'v', '--', 'src')).toBe('A /src/a\n')
  })
})
