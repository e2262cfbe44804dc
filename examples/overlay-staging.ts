// Stages changes over a file system without touching it: look at the difference, then commit or discard.
// Run: npx node examples/overlay-staging.ts
import assert from 'node:assert/strict'
import { MemoryFs, OverlayFs, readText } from 'coppice'

const project = new MemoryFs({
  '/package.json': '{ "version": "1.0.0" }\n',
  '/src/index.ts': 'export const answer = 41\n',
  '/src/legacy/old.ts': 'export {}\n',
})
const staged = new OverlayFs(project)

// Whoever holds `staged` sees an ordinary file system. Every change stays in the overlay.
await staged.write('/src/index.ts', 'export const answer = 42\n')
await staged.write('/src/new.ts', 'export const fresh = true\n')
await staged.remove('/src/legacy', { recursive: true })
await staged.write('/package.json', '{ "version": "1.0.0" }\n')

// Content decides: package.json was written back as it was, so it is not in the difference.
const changes = await staged.diff()
console.log('staged:', changes)
assert.deepEqual(changes, {
  added: ['/src/new.ts'],
  modified: ['/src/index.ts'],
  deleted: ['/src/legacy/old.ts'],
})
assert.equal(await readText(project, '/src/index.ts'), 'export const answer = 41\n')

// All changes reach the project, or none does. The overlay starts afresh.
await staged.commit()
console.log('committed:', await readText(project, '/src/index.ts'))
assert.equal(await readText(project, '/src/index.ts'), 'export const answer = 42\n')
assert.equal(await project.exists('/src/legacy'), false)

// A second round of changes is not wanted.
await staged.remove('/src', { recursive: true })
await staged.discard()
assert.equal(await staged.exists('/src/index.ts'), true)
assert.deepEqual(await staged.diff(), { added: [], modified: [], deleted: [] })
console.log('discarded: the project still has /src')
