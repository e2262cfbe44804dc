import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { Cli } from '../cli/run-cli.ts'
import { call, startClient } from './mcp-client.ts'

it('an agent works on a fork of a project over MCP; its user sees the diff, applies and merges it', async () => {
  const cli = new Cli()
  const shop = join(cli.files, 'shop')
  mkdirSync(join(shop, 'src'), { recursive: true })
  writeFileSync(join(shop, '.gitignore'), 'build\n')
  writeFileSync(join(shop, 'README.md'), '# Shop\n')
  writeFileSync(join(shop, 'src/cart.ts'), 'export const prices = []\nexport const total = 0\n')
  await cli.ok('import', shop, '--vault', 'base', '--gitignore')

  const { client } = await startClient(cli, ['--vault', 'base', '--fork', 'task-1', '--context', 'agent'])
  expect(client.getInstructions()).toContain('vfs:///workspace')
  const found = await call(client, 'file_grep', { path: 'vfs:///workspace', pattern: 'total' })
  expect(found).toContain('cart.ts')
  await call(client, 'file_read', { path: 'vfs:///workspace/src/cart.ts' })
  await call(client, 'workspace_checkpoint', { name: 'before-edit' })
  await call(client, 'file_edit', {
    path: 'vfs:///workspace/src/cart.ts',
    operation: 'replace_string',
    find: 'total = 0',
    replace: 'total = sum(prices)',
  })
  await call(client, 'write_file', { path: 'vfs:///workspace/NOTES.md', content: 'adds up\n' })
  expect(await call(client, 'workspace_diff', {})).toContain('NOTES.md')
  await client.close()

  expect(await cli.ok('diff', '--vault', 'task-1')).toBe('A /NOTES.md\nM /src/cart.ts\n')
  const patch = await cli.ok('diff', '--vault', 'task-1', '--patch')
  expect(patch).toContain('-export const total = 0\n+export const total = sum(prices)\n')
  expect(await cli.ok('blame', '/src/cart.ts', '--vault', 'task-1')).toMatch(
    /agent.* 2\) export const total = sum/,
  )
  expect(await cli.ok('cat', '/src/cart.ts', '--vault', 'base')).toContain('total = 0')

  execFileSync('git', ['apply', '-'], { cwd: shop, input: patch })
  expect(readFileSync(join(shop, 'src/cart.ts'), 'utf8')).toContain('total = sum(prices)')
  expect(await cli.ok('merge', 'task-1', 'base')).toContain('merged 2 changes of task-1 into base')
  expect(await cli.ok('cat', '/src/cart.ts', '--vault', 'base')).toContain('total = sum(prices)')
})
