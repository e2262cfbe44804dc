// Adds up the size of all files by extension. Sizes come with the walk, so no file is opened.
// Run: npx node examples/bytes-by-extension.ts [directory]
import assert from 'node:assert/strict'
import { extname } from 'node:path/posix'
import { du, type FileSystem, HostFs, MemoryFs } from 'coppice'

async function bytesByExtension(fs: FileSystem, root: string): Promise<Map<string, number>> {
  const totals = new Map<string, number>()
  for await (const { path, stat } of fs.walk(root)) {
    const extension = extname(path) || '(none)'
    totals.set(extension, (totals.get(extension) ?? 0) + stat.size)
  }
  return totals
}

const sample = new MemoryFs({
  '/README.md': '# Orchard\n',
  '/LICENSE': 'MIT\n',
  '/src/apple.ts': 'export const apple = 1\n',
  '/src/pear.ts': 'export const pear = 2\n',
  '/docs/guide.md': '# Guide\nPick when ripe.\n',
})
assert.deepEqual(Object.fromEntries(await bytesByExtension(sample, '/')), {
  '.md': 34,
  '(none)': 4,
  '.ts': 45,
})
assert.deepEqual(Object.fromEntries(await bytesByExtension(sample, '/docs')), { '.md': 24 })

// The same function on a directory of this machine: these examples, unless you name another.
const directory = process.argv[2] ?? import.meta.dirname
const host = new HostFs(directory)
const totals = await bytesByExtension(host, '/')
console.log(directory)
for (const [extension, bytes] of [...totals].sort(([, a], [, b]) => b - a)) {
  console.log(`${String(bytes).padStart(10)} bytes  ${extension}`)
}
const sum = totals.values().reduce((total, bytes) => total + bytes, 0)
assert.equal(sum, (await du(host)).bytes)
await host.close()
