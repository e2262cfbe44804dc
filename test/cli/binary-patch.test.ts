import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { Cli } from './run-cli.ts'

const OLD = Buffer.from([...'\x89PNG\0'].map((letter) => letter.charCodeAt(0)))
const NEW = Buffer.concat([OLD, Buffer.alloc(5000, 7)])

/** A fork of a directory with changed, new and deleted binary files, and a text after them. */
async function forkWithBinaries(): Promise<Cli> {
  const cli = new Cli()
  const write = (name: string, content: string | Buffer) => writeFileSync(join(cli.files, name), content)
  write('changed.png', OLD)
  write('gone.png', OLD)
  write('text', 'one\n')
  write('source.png', NEW)
  const line = 'cp source.png changed.png; cp source.png added.png; rm gone.png; echo two > text'
  await cli.run(['exec', '--fork', 'f', '-c', '--', line])
  return cli
}

const apply = (cli: Cli, input: string, ...args: string[]) =>
  execFileSync('git', ['apply', ...args], { cwd: cli.files, input })

it('diff --patch has binary files, which git applies and reverts', async () => {
  const cli = await forkWithBinaries()
  const patch = await cli.ok('diff', 'f', '--patch')
  expect(patch.match(/^GIT binary patch$/gm)).toHaveLength(3)
  apply(cli, patch)
  const read = (name: string) => readFileSync(join(cli.files, name))
  for (const name of ['changed.png', 'added.png']) expect(read(name).equals(NEW)).toBe(true)
  expect(() => read('gone.png')).toThrow('ENOENT')
  expect(read('text').toString()).toBe('two\n')
  apply(cli, patch, '-R')
  for (const name of ['changed.png', 'gone.png']) expect(read(name).equals(OLD)).toBe(true)
})

it('diff --patch --json has the same patches, and diff without it names binary files only', async () => {
  const cli = await forkWithBinaries()
  const listed = await cli.json('diff', 'f', '--patch')
  const patches = Array.isArray(listed) ? listed.map(({ patch }) => String(patch)) : []
  expect(patches.join('')).toBe(await cli.ok('diff', 'f', '--patch'))
  const shown = await cli.ok('diff', 'f')
  expect(shown).toContain('\nBinary files a/changed.png and b/changed.png differ\n')
  expect(shown).not.toContain('GIT binary patch')
})

it('diff --patch leaves out names that git refuses, and says so', async () => {
  const cli = new Cli()
  await cli.ok('vault', 'create', 'base')
  await cli.ok('fork', 'base', 'task')
  for (const name of ['/sub/.git', '/git~1', '/kept'])
    await cli.ok('write', name, '--text', 'x', '--vault', 'task')
  const { stdout, stderr } = await cli.run(['diff', '--vault', 'task', '--patch'])
  expect(stderr).toContain('not in the patch, as git applies none below .git: /git~1, /sub/.git\n')
  apply(cli, stdout)
  expect(readFileSync(join(cli.files, 'kept'), 'utf8')).toBe('x\n')
})
