// Any file system as a directory of this machine, for every program. Needs /dev/fuse, and root or fusermount3.
// Run: npx node examples/mount.ts
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isVfsError, MemoryFs } from 'coppice'
import { mountFileSystem } from 'coppice/fuse'

const fs = new MemoryFs({ '/notes/today.md': 'Buy milk.\n' })
const directory = await mkdtemp(join(tmpdir(), 'coppice-mount-'))

try {
  const mount = await mountFileSystem(fs, { directory, isReadOnly: true })
  const text = await readFile(join(directory, 'notes/today.md'), 'utf8')
  await mount.unmount()
  assert.equal(text, 'Buy milk.\n')
  console.log(text)
} catch (error) {
  if (!isVfsError(error)) throw error
  console.log(`this machine does not let us mount: ${error.message}`)
}
await rmdir(directory)
