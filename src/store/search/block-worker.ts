import { parentPort } from 'node:worker_threads'
import { BlockBuilder } from './block-builder.ts'
import { type BlockRequest, buildBlocks } from './block-thread.ts'

const builder = new BlockBuilder()

// Answers each request with the blocks that it filled.
parentPort?.on('message', (request: BlockRequest) => parentPort?.postMessage(buildBlocks(builder, request)))
