// Finds files with the same content. Sizes come with the walk, so only files of equal size are hashed.
// Run: npx node examples/duplicate-content.ts
import assert from 'node:assert/strict'
import { type FileSystem, hash, MemoryFs, MountTable } from 'coppice'

async function duplicates(fs: FileSystem, root: string): Promise<string[][]> {
  const bySize = new Map<number, string[]>()
  for await (const { path, stat } of fs.walk(root)) {
    if (stat.type === 'file') bySize.set(stat.size, [...(bySize.get(stat.size) ?? []), path])
  }
  const byHash = new Map<string, string[]>()
  for (const paths of bySize.values()) {
    if (paths.length < 2) continue
    for (const path of paths) {
      // The file system is asked where it knows its hashes; elsewhere the file is read.
      const key = await hash(fs, path)
      byHash.set(key, [...(byHash.get(key) ?? []), path])
    }
  }
  return [...byHash.values()].filter((paths) => paths.length > 1)
}

const fs = new MountTable({
  '/photos': new MemoryFs({
    '/2025/oak.jpg': 'an oak in May',
    '/2025/elm.jpg': 'an elm in May',
    '/best/oak.jpg': 'an oak in May',
  }),
  '/backup': new MemoryFs({ '/old/IMG_0001.jpg': 'an oak in May', '/old/IMG_0002.jpg': 'a beech in June' }),
})

const groups = await duplicates(fs, '/')
for (const paths of groups) console.log(`the same content:\n  ${paths.join('\n  ')}`)

// Mounts do not matter: one of the copies is on another file system.
assert.deepEqual(groups, [['/backup/old/IMG_0001.jpg', '/photos/2025/oak.jpg', '/photos/best/oak.jpg']])
