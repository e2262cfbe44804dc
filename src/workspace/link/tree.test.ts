import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openHome } from '../../backends/vault/index.ts'
import type { LinkEntry } from './link-entry.ts'
import { findEntry, putEntry } from './tree.ts'

const MIB = 1024 * 1024

function createFile(bytes: Uint8Array): LinkEntry {
  const attributes = { mode: 0o644, uid: 0, gid: 0, mtime: { seconds: 0, nanos: 0 } }
  return { type: 'file', ...attributes, size: bytes.length, target: '', content: () => [bytes] }
}

it('stores a large file once, however often the home has it with small changes', async () => {
  const path = mkdtempSync(join(tmpdir(), 'coppice-tree-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  await using home = await openHome({ path })
  const before = randomBytes(3 * MIB + 1)
  const after = Buffer.from(before)
  after[MIB] = (after[MIB] ?? 0) + 1
  for (const [name, bytes] of Object.entries({ before, after, again: before })) {
    await home.createVault(name)
    const tree = await home.posix(name)
    putEntry(tree, '/large', createFile(before))
    putEntry(tree, '/large', createFile(bytes))
    expect(Buffer.concat([...(findEntry(tree, '/large')?.content() ?? [])]).equals(bytes)).toBe(true)
  }
  const sizes = readdirSync(path).map((file) => statSync(join(path, file)).size)
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(2 * before.length + 2 * MIB)
})
