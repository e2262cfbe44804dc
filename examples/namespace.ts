// Two contexts in one namespace: zones, a workspace that is a fork, tools, and a mount of the program's own.
// Run: npx node examples/namespace.ts
import assert from 'node:assert/strict'
import { MemoryFs, openHome, readText } from 'coppice'
import { openNamespace } from 'coppice/namespace'

await using home = await openHome()
const base = await home.createVault('base')
await base.write('/src/cart.ts', 'export const total = 0\n')

await using planner = await openNamespace({ home, context: 'planner' })
await using coder = await openNamespace({
  home,
  context: 'coder',
  vault: 'base',
  fork: 'task-1',
  mounts: { '/scratch': new MemoryFs() },
})

// What is in /shared is for all; everyone writes it through tools, as an agent does.
await planner.tools().call('write_file', { path: 'vfs:///shared/tasks.md', content: '- [ ] add prices up\n' })
const task = await coder.tools().call('file_head', { path: 'vfs:///shared/tasks.md' })
console.log(`coder reads: ${task.text.trim()}`)

// The coder changes its fork; the vault stays as it is until somebody merges.
await coder.tools().call('file_edit', {
  path: 'vfs:///workspace/src/cart.ts',
  operation: 'replace_string',
  find: 'total = 0',
  replace: 'total = (prices) => prices.reduce((a, b) => a + b, 0)',
})
const changes = await coder.tools().call('workspace_diff', { format: 'files' })
console.log(`the fork differs: ${changes.text.trim()}`)

// A home is its owner's alone.
const denied = await planner.tools().call('write_file', { path: 'vfs:///home/coder/notes.md', content: 'hi' })
console.log(denied.text)

assert.equal(task.text.trim(), '- [ ] add prices up')
assert.equal(changes.text.trim(), 'modified\t/workspace/src/cart.ts')
assert.equal(denied.error?.code, 'EACCES')
assert.equal(await readText(base, '/src/cart.ts'), 'export const total = 0\n')
await home.merge('task-1', 'base')
assert.match(await readText(base, '/src/cart.ts'), /reduce/)
