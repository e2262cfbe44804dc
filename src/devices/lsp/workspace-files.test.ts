import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { MemoryFs } from '../../vfs/index.ts'
import { WorkspaceFiles } from './workspace-files.ts'

it('returns a URI as it is that names no file of this machine', async () => {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'coppice-lsp-')))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const fs = new MemoryFs()
  await fs.write('/workspace/a.ts', 'const a = 1\n')
  const ctx = {
    pid: 7,
    caller: { kind: 'process', pid: 7, context: 'coder' },
    fs,
    signal: new AbortController().signal,
  } as const
  const files = await WorkspaceFiles.open(directory, '/workspace', ctx)
  const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 5 } }
  for (const uri of ['file://host/x', 'file:///a%2Fb', 'jdt://contents/x'])
    expect(await files.formatLocation(uri, range)).toMatchObject({ file: uri, line: 1 })
  expect(await files.formatLocation('file:///usr/lib/b.ts', range)).toMatchObject({ file: '/usr/lib/b.ts' })
  const own = await files.formatLocation(files.toFileUri('/workspace/a.ts'), range)
  expect(own).toMatchObject({ file: '/workspace/a.ts', text: 'const a = 1' })
})
