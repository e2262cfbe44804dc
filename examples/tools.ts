// The tools an agent calls: on any file system, for a context with zones, with long outputs kept as files.
// Run: npx node examples/tools.ts
import assert from 'node:assert/strict'
import { agentTools, MemoryFs } from 'coppice'
import { guard, zonePolicy } from 'coppice/access'
import { OutputCache } from 'coppice/tools'

const files = new MemoryFs({ '/src/main.ts': 'const port = 8080\nlisten(port)\n' })
const tools = await agentTools(files)

for (const { name, description, hints, inputSchema } of tools.tools.slice(0, 2)) {
  console.log(name, description, hints.readOnly, Object.keys(inputSchema))
}

const edited = await tools.call('file_edit', {
  path: 'vfs:///src/main.ts',
  operation: 'replace_string',
  find: '8080',
  replace: '9090',
})
assert.equal(edited.isError, false)
console.log(edited.text)

const failed = await tools.call('file_head', { file_path: 'vfs:///src/main.ts' })
assert.equal(failed.isError, true)
assert.equal(failed.error?.code, 'EINVAL')
assert.match(failed.text, /there is no argument 'file_path': it is called 'path' here/)

const found = await tools.call('file_grep', { path: 'vfs:///src', pattern: 'port = \\d+' })
assert.match(found.text, /> 1: const port = 9090/)

const fs = guard(files, [zonePolicy()])
const cache = new OutputCache(fs)
const anna = await agentTools({ fs, cache }, { context: 'anna' })
const ben = await agentTools({ fs, cache }, { context: 'ben' })

await anna.call('write_file', { path: 'vfs:///shared/board.md', content: '- [ ] test\n' })
await anna.call('write_file', { path: 'vfs:///home/anna/plan.md', content: 'First, think.\n' })
const denied = await ben.call('write_file', { path: 'vfs:///home/anna/plan.md', content: '' })
assert.equal(denied.error?.code, 'EACCES')
console.log(denied.text)

await ben.call('file_read', { path: 'vfs:///shared/board.md' })
await anna.call('write_file', { path: 'vfs:///shared/board.md', content: '- [ ] test\n- [ ] ship\n' })
const tick = {
  path: 'vfs:///shared/board.md',
  operation: 'replace_string',
  find: '[ ] test',
  replace: '[x] test',
}
const stale = await ben.call('file_edit', tick)
assert.equal(stale.error?.code, 'ECONFLICT')
console.log(stale.text)
await ben.call('file_read', { path: 'vfs:///shared/board.md' })
assert.equal((await ben.call('file_edit', tick)).isError, false)

const log = Array.from({ length: 1000 }, (_, line) => `${line} ${line === 700 ? 'error' : 'fine'}`)
await anna.call('write_file', { path: 'vfs:///home/anna/log', content: log.join('\n') })
const { text, cached } = await anna.call('file_grep', { path: 'vfs:///home/anna/log', pattern: 'fine|error' })
console.log(text)
const look = await ben.call('file_grep', { path: cached?.uri, pattern: 'error' })
assert.match(look.text, /700 error/)
