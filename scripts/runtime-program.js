// A program that Node, Bun and Deno run alike: `npm run smoke:runtimes` starts it with each.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  agentTools,
  diff,
  grep,
  HostFs,
  hash,
  MemoryFs,
  MountTable,
  OverlayFs,
  openHome,
  readText,
} from 'coppice'

const directory = mkdtempSync(join(tmpdir(), 'coppice-smoke-'))
const parts = {
  async memory() {
    const fs = new MemoryFs({ '/a.txt': 'one\nTODO two\n' })
    const fork = fs.fork()
    await fork.write('/b.txt', 'b')
    assert.deepEqual(await Array.fromAsync(diff(fs, fork), ({ kind, path }) => `${kind} ${path}`), [
      'added /b.txt',
    ])
    assert.deepEqual(await Array.fromAsync(grep(fs, '/', 'TODO'), ({ line }) => line), [2])
    assert.equal((await hash(fs, '/a.txt')).length, 64)
  },
  async overlay() {
    const table = new MountTable({ '/work': new MemoryFs({ '/a': '1' }) })
    const stage = new OverlayFs(table)
    await stage.write('/work/a', '2')
    assert.equal(await readText(table, '/work/a'), '1')
    await stage.commit()
    assert.equal(await readText(table, '/work/a'), '2')
  },
  async host() {
    const fs = new HostFs(directory)
    await fs.write('/deep/file.txt', 'on disk', { parents: true })
    assert.equal(await readText(fs, '/deep/file.txt'), 'on disk')
    await fs.remove('/deep', { recursive: true })
  },
  async tools() {
    const tools = await agentTools(new MemoryFs({ '/a.txt': 'one\n' }))
    assert.match((await tools.call('file_read', { path: 'vfs:///a.txt' })).text, /one/)
  },
  home: () => useHome({}),
  sqlite: () => useHome({ path: join(directory, 'sqlite') }),
}

async function useHome(options) {
  const home = await openHome(options)
  const base = await home.createVault('base')
  await base.write('/a.txt', 'one\n')
  const task = await home.fork('base', 'task')
  await task.write('/a.txt', 'two\n')
  await home.merge('task', 'base')
  assert.equal(await readText(base, '/a.txt'), 'two\n')
  await home.close()
}

const failed = []
for (const [name, run] of Object.entries(parts)) {
  try {
    await run()
    console.log(`ok ${name}`)
  } catch (error) {
    failed.push(name)
    console.log(`failed ${name}: ${error instanceof Error ? error.stack : error}`)
  }
}
rmSync(directory, { recursive: true, force: true })
process.exitCode = failed.length === 0 ? 0 : 1
