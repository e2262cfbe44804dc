// The library in one file: mount, read, search, errors, stage, commit, fork.
// Run: npx node examples/library-tour.ts
import assert from 'node:assert/strict'
import { diff, grep, isVfsError, MemoryFs, MountTable, OverlayFs, ReadOnlyFs, readText, tree } from 'coppice'

const ns = new MountTable({
  '/project': new MemoryFs({
    '/README.md': '# Shop\n',
    '/src/cart.ts': 'export const total = (prices: number[]) => 0 // TODO: add up\n',
    '/src/old.ts': '// TODO: delete this file\n',
  }),
  '/library': new ReadOnlyFs(new MemoryFs({ '/style.md': 'Names say what a thing is.\n' })),
  '/scratch': new MemoryFs(),
})
console.log(await tree(ns))

await ns.write('/scratch/plan/notes.md', 'first\nsecond\nthird\nfourth\n')
assert.equal(await readText(ns, '/scratch/plan/notes.md', { lineRange: [2, 3] }), 'second\nthird')

const found = await Array.fromAsync(grep(ns, '/', 'TODO'), ({ path, line }) => `${path}:${line}`)
assert.deepEqual(found, ['/project/src/cart.ts:1', '/project/src/old.ts:1'])

const error = await ns.write('/library/style.md', 'anything goes').catch((cause: unknown) => cause)
assert.ok(isVfsError(error, 'EROFS'))
console.log(error.message)
assert.equal(error.mount, '/library')

const stage = new OverlayFs(ns)
await stage.write('/project/src/cart.test.ts', "test('adds up', …)\n")
await stage.remove('/project/src/old.ts')
assert.deepEqual(await stage.diff(), {
  added: ['/project/src/cart.test.ts'],
  modified: [],
  deleted: ['/project/src/old.ts'],
})
assert.ok(await ns.exists('/project/src/old.ts'))
await stage.commit()
assert.equal(await ns.exists('/project/src/old.ts'), false)

const big = new MemoryFs()
for (let file = 0; file < 10_000; file++) await big.write(`/dir${file % 100}/file${file}`, 'content')
const attempts = [big.fork(), big.fork(), big.fork()]
await Promise.all(attempts.map((attempt, number) => attempt.write('/answer', `attempt ${number + 1}`)))
assert.equal(await big.exists('/answer'), false)
for (const attempt of attempts) {
  const changes = await Array.fromAsync(diff(big, attempt), ({ kind, path }) => `${kind} ${path}`)
  assert.deepEqual(changes, ['added /answer'])
}
