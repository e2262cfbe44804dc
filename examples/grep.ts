// Searches a whole namespace, whatever is mounted in it, and stops as soon as it has seen enough.
// Run: npx node examples/grep.ts
import assert from 'node:assert/strict'
import { grep, MemoryFs, MountTable } from 'coppice'

const project = new MemoryFs({
  '/src/server.ts': 'listen(8080)\n// TODO: read the port from the environment\nlog("ready")\n',
  '/src/client.ts': 'connect()\n// TODO: retry with a delay\n// TODO: close on exit\n',
  '/logo.png': Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0, 0, 0),
})
const notes = new MemoryFs({ '/week.md': '# Week 12\n- TODO: write the release notes\n' })
const fs = new MountTable({ '/project': project, '/notes': notes })

// A string or a regular expression. Matches come one by one, in the walk's order; binary files are skipped.
const found: string[] = []
for await (const { path, line, text } of grep(fs, '/', /TODO: (.+)/)) {
  found.push(`${path}:${line}: ${text}`)
}
console.log(found.join('\n'))
assert.deepEqual(found, [
  '/notes/week.md:2: - TODO: write the release notes',
  '/project/src/client.ts:2: // TODO: retry with a delay',
  '/project/src/client.ts:3: // TODO: close on exit',
  '/project/src/server.ts:2: // TODO: read the port from the environment',
])

// With lines of context, below one directory. Leaving the loop ends the search: later files are not read.
for await (const { path, before, text, after } of grep(fs, '/project', {
  pattern: 'port',
  before: 1,
  after: 1,
})) {
  console.log(`\nfirst match, in ${path}:`)
  console.log([...before, text, ...after].join('\n'))
  assert.deepEqual([before, after], [['listen(8080)'], ['log("ready")']])
  break
}
