// Archives as file systems, as docs/guide/archives.md explains them.
// Run: npx node examples/archives.ts
import assert from 'node:assert/strict'
import { grep, MemoryFs, MountTable, OverlayFs, readText } from 'coppice'
import { openTar, openZip, packTar, packZip, unpack } from 'coppice/backends/archive'

const project = new MemoryFs({ '/src/main.ts': 'export const answer = 42\n', '/README.md': '# Answer\n' })

// Any file system becomes an archive, and an archive in any file system becomes a file system.
const disk = new MemoryFs()
await disk.write('/release.tar.gz', packTar(project, { gzip: true }))
const release = await openTar(disk, '/release.tar.gz')
const table = new MountTable({ '/old': release, '/new': new OverlayFs(release) })
await table.write('/new/src/main.ts', 'export const answer = 43\n')
for await (const { path, text } of grep(table, '/', 'answer')) console.log(`${path}: ${text}`)

await disk.write('/source.zip', packZip(table, { root: '/new' }))
const source = await openZip(disk, '/source.zip')
const copy = new MemoryFs()
console.log(await unpack(source, copy, { into: '/copy' }))

assert.equal(await readText(table, '/old/src/main.ts'), 'export const answer = 42\n')
assert.equal(await readText(copy, '/copy/src/main.ts'), 'export const answer = 43\n')
