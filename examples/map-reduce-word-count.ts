// Counts the words of every file below a directory: several files at once, results merged as they come.
// Run: npx node examples/map-reduce-word-count.ts
import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { type FileSystem, MemoryFs, MountTable, mapReduce, OverlayFs } from 'coppice'

type Counts = ReadonlyMap<string, number>

/** The map step gets a file's content as a stream; here a file is small enough to be taken whole. */
async function wordsIn(content: AsyncIterable<Uint8Array>): Promise<Counts> {
  const counts = new Map<string, number>()
  for (const word of (await text(content)).toLowerCase().match(/\p{L}+/gu) ?? []) {
    counts.set(word, (counts.get(word) ?? 0) + 1)
  }
  return counts
}

/** The reduce step runs in no particular order, so it must not depend on one. */
function merge(total: Counts, counts: Counts): Counts {
  const merged = new Map(total)
  for (const [word, count] of counts) merged.set(word, (merged.get(word) ?? 0) + count)
  return merged
}

function countWords(fs: FileSystem, root: string): Promise<Counts> {
  return mapReduce(fs, root, (_entry, content) => wordsIn(content), merge, new Map(), { concurrency: 4 })
}

const poems = new MemoryFs({
  '/coppice.txt': 'One root, many shoots.\nCut to the root, it grows again.\n',
  '/rose.txt': 'A rose is a rose is a rose.\n',
})
const staged = new OverlayFs(new MemoryFs({ '/draft.txt': 'Many roots.\n' }))
await staged.write('/draft.txt', 'Many roots, one rose.\n')

// The same function counts over anything that is a file system: memory, an overlay, a table of both.
const counts = await countWords(new MountTable({ '/poems': poems, '/staged': staged }), '/')
const top = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, 4)
for (const [word, count] of top) console.log(`${count}  ${word}`)

assert.deepEqual(top, [
  ['rose', 4],
  ['a', 3],
  ['is', 2],
  ['many', 2],
])
assert.equal((await countWords(poems, '/')).get('root'), 2)
