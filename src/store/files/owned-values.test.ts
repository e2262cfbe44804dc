import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Engine } from '../engine.ts'
import { LmdbEngine } from '../engines/lmdb/lmdb-engine.ts'
import { MemoryEngine } from '../engines/memory-engine.ts'
import { SqliteEngine } from '../engines/sqlite/sqlite-engine.ts'
import { StoreHome } from '../store-home.ts'
import type { VaultLog } from '../vault/vault-log.ts'
import type { FileOperation } from './operation.ts'

const inline = Buffer.from('short').toString('base64')
/** One operation for each way that bytes come into a tree. */
const operations: readonly FileOperation[] = [
  { op: 'write', path: '/file', content: { size: 5, inline }, parents: false },
  { op: 'symlink', path: '/link', target: 'file' },
  { op: 'meta', path: '/file', values: { key: 'a value' } },
  { op: 'xattr', path: '/file', inode: 2, name: 'user.key', value: inline },
  {
    op: 'create',
    path: '/other',
    parent: 1,
    name: 'other',
    type: 'symlink',
    mode: 0o777,
    uid: 0,
    gid: 0,
    text: 'file',
  },
  { op: 'patch', path: '/file', inode: 2, size: 5, inline, chunks: [] },
  { op: 'merge', path: '/', from: 'other', source: 7, root: 3, operations: [] },
]

/** Limit in bytes of a buffer: more than the only page of this tree has. */
const PAGE_BYTES = 4096

describe('bytes in the tree of a vault', () => {
  it('keep no other bytes in memory: a cached node costs what its page does', async () => {
    const home = new StoreHome(new MemoryEngine())
    const log = await home.createVault('base')
    for (const operation of operations) await log.submit(() => operation)
    assertOwned(listBytes(log))
    await home.close()
  })

  it.each<[string, (path: string) => Engine | Promise<Engine>]>([
    ['sqlite', (file) => new SqliteEngine({ file })],
    ['lmdb', (directory) => LmdbEngine.open({ directory })],
  ])('keep no more than their page when %s reads it', async (_name, open) => {
    const scratch = mkdtempSync(join(tmpdir(), 'coppice-owned-'))
    onTestFinished(() => rmSync(scratch, { recursive: true, force: true }))
    const first = new StoreHome(await open(join(scratch, 'store')))
    const log = await first.createVault('base')
    for (const operation of operations) await log.submit(() => operation)
    await first.close()
    const home = new StoreHome(await open(join(scratch, 'store')))
    assertOwned(listBytes(await home.openVault('base')))
    await home.close()
  })
})

function assertOwned(values: readonly Uint8Array[]): void {
  expect(values.length).toBeGreaterThanOrEqual(operations.length - 1)
  const large = values.filter(({ buffer }) => buffer.byteLength > PAGE_BYTES)
  expect(large.map((bytes) => Buffer.from(bytes).toString())).toEqual([])
}

function listBytes(log: VaultLog): Uint8Array[] {
  return [...log.readFiles().tree.iterateFrom(0, 0)].flatMap(({ value }) => {
    if (value instanceof Uint8Array) return [value]
    return 'content' in value && value.content instanceof Uint8Array ? [value.content] : []
  })
}
