import { parentPort } from 'node:worker_threads'
import { BlockBuilder, type IndexBlock } from './block-builder.ts'
import { type BlockRequest, UNINDEXED_SIZE } from './block-thread.ts'

const builder = new BlockBuilder()

// Answers each request with the blocks that it filled.
parentPort?.on('message', ({ inodes, sizes, content, isLast }: BlockRequest) => {
  const blocks: IndexBlock[] = []
  let start = 0
  for (const [index, inode] of inodes.entries()) {
    const size = sizes[index] ?? UNINDEXED_SIZE
    builder.add(inode, size === UNINDEXED_SIZE ? undefined : content.subarray(start, start + size))
    start += Math.max(size, 0)
    if (builder.isFull) blocks.push(builder.takeBlock())
  }
  if (isLast && builder.documents > 0) blocks.push(builder.takeBlock())
  parentPort?.postMessage(blocks)
})
