import { execFileSync } from 'node:child_process'
import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openHome } from '../backends/vault/index.ts'
import { listFileChanges } from './file-changes.ts'
import { formatPatch, readChangedText } from './patch.ts'

it('a patch turns the old tree into the new one, as git applies it', async () => {
  const scratch = mkdtempSync(join(tmpdir(), 'coppice-patch-'))
  onTestFinished(() => rmSync(scratch, { recursive: true, force: true }))
  await using home = await openHome()
  const base = await home.createVault('base')
  const names = [
    '/sp ace',
    '/tab\tname',
    '/new\nline',
    '/ünï 🌱',
    '/quo"te',
    '/dir/a',
    '/dir/deep/b',
    '/dir/deep/c',
  ]
  for (const name of names) await base.write(name, `one\ntwo\nof ${name}\n`)
  await base.write('/dir/gone', 'g\n')
  await base.write('/empty', '')
  await base.write('/run.sh', '#!/bin/sh\n', { mode: 0o755 })
  await base.write('/private', 'p\n', { mode: 0o644 })
  await base.mkdir('/left')
  await base.symlink('dir', '/link')

  const fork = await home.fork('base', 'fork')
  for (const name of names) if (!name.endsWith('/c')) await fork.append(name, 'more')
  await fork.rename('/dir', '/moved')
  await fork.rename('/moved/deep', '/moved/low')
  await fork.remove('/moved/gone')
  await fork.remove('/empty')
  await fork.write('/also empty', '')
  await fork.write('/moved/new', 'no newline')
  await fork.write('/run.sh', '#!/bin/sh\necho\n', { mode: 0o644 })
  await fork.setattr('/private', { mode: 0o600 })
  await fork.mkdir('/a directory')
  await fork.remove('/left', { recursive: true })
  await fork.remove('/link')
  await fork.symlink('moved', '/link')

  const lines: string[] = []
  const trees = { before: base, after: fork }
  for await (const change of listFileChanges(fork.diff(base), trees, {})) {
    lines.push(...formatPatch(await readChangedText(change, trees, {})))
  }
  // No patch can have these; git passes over them, and takes the rest.
  expect(lines).toEqual(
    expect.arrayContaining([
      'new directory /a directory',
      'deleted directory /left',
      'mode of /private: 0644 -> 0600',
    ]),
  )
  const [patched, wanted] = [join(scratch, 'patched'), join(scratch, 'wanted')]
  await home.export('base', patched)
  await home.export('fork', wanted)
  execFileSync('git', ['apply'], { cwd: patched, input: `${lines.join('\n')}\n` })
  expect(contentOf(patched)).toEqual({ ...contentOf(wanted), private: expect.stringContaining('p\n') })
})

it('a text in another encoding is named like a binary file, since a patch would corrupt it', async () => {
  await using home = await openHome()
  const base = await home.createVault('base')
  const fork = await home.fork('base', 'fork')
  await fork.write('/latin', Buffer.from('caf\xe9\n', 'latin1'))
  const trees = { before: base, after: fork }
  const [change] = await Array.fromAsync(fork.diff(base))
  if (change === undefined) throw new Error('nothing has changed')
  expect(formatPatch(await readChangedText(change, trees, {}))).toEqual([
    'diff --git a/latin b/latin',
    'new file mode 100644',
    'Binary files a/latin and b/latin differ',
  ])
})

it('names permissions that git cannot express beside the changed text', async () => {
  await using home = await openHome()
  const base = await home.createVault('base')
  await base.write('/file', 'one\n', { mode: 0o644 })
  const fork = await home.fork('base', 'fork')
  await fork.write('/file', 'two\n')
  await fork.setattr('/file', { mode: 0o600 })
  const [change] = await Array.fromAsync(fork.diff(base))
  if (change === undefined) throw new Error('nothing has changed')
  const lines = formatPatch(await readChangedText(change, { before: base, after: fork }, {}))
  expect(lines.slice(0, 2)).toEqual(['mode of /file: 0644 -> 0600', 'diff --git a/file b/file'])
})

/** Every file and link below a directory, with what it holds. */
function contentOf(directory: string): Record<string, string> {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      const content = entry.isSymbolicLink() ? `-> ${readlinkSync(path)}` : readFileSync(path, 'utf8')
      return [relative(directory, path), `${lstatSync(path).mode} ${content}`]
    })
  return Object.fromEntries(files)
}
