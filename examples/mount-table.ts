// Puts several file systems into one namespace, one of them read-only: paths, errors, copies and moves.
// Run: npx node examples/mount-table.ts
import assert from 'node:assert/strict'
import { copy, isVfsError, MemoryFs, MountTable, move, ReadOnlyFs, readText, tree } from 'coppice'

const handbook = new MemoryFs({ '/style.md': '# Style\n', '/tone.md': '# Tone\n' })
const fs = new MountTable({
  '/desk': new MemoryFs({ '/todo.txt': 'write\n' }),
  '/shared/handbook': new ReadOnlyFs(handbook),
})

// The longest mount point that is a prefix of a path serves it. `/shared` exists because a mount is below it.
console.log(await tree(fs))
assert.equal(await readText(fs, '/shared/handbook/style.md'), '# Style\n')
assert.equal((await fs.stat('/shared')).type, 'directory')

// Errors speak of the path you used, and name the mount it belongs to.
const refused = await fs.write('/shared/handbook/style.md', '# Mine\n').catch((error: unknown) => error)
assert.ok(isVfsError(refused, 'EROFS'))
console.log(refused.message)
assert.equal(refused.path, '/shared/handbook/style.md')
assert.equal(refused.mount, '/shared/handbook')

// Helpers work across mounts. A move from one to another is a copy, so it has to be asked for.
await copy(fs, '/shared/handbook', '/desk/handbook')
await fs.write('/desk/handbook/style.md', '# Mine\n')
fs.mount('/archive', new MemoryFs())
await assert.rejects(move(fs, '/desk/todo.txt', '/archive/todo.txt'), { code: 'EXDEV' })
await move(fs, '/desk/todo.txt', '/archive/todo.txt', { across: true })
assert.equal(await readText(fs, '/archive/todo.txt'), 'write\n')
assert.equal(await readText(handbook, '/style.md'), '# Style\n')

// Mounts come and go while the namespace is in use.
fs.unmount('/archive')
assert.equal(await fs.exists('/archive'), false)
assert.deepEqual(
  fs.mounts().map(({ path }) => path),
  ['/shared/handbook', '/desk'],
)
