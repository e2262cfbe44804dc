import { parentPort } from 'node:worker_threads'
import { hashContent } from '../../../store/index.ts'
import { HostFile } from './host-file.ts'
import type { ReadAnswer, ReadFile } from './read-ahead.ts'
import { toTransferAttributes } from './transfer-attributes.ts'

/** Larger files are left to the caller. */
const MAX_BYTES = 128n * 1024n

parentPort?.on('message', (paths: readonly string[]) => {
  const answer = readFiles(paths)
  parentPort?.postMessage(answer, [answer.content.buffer])
})

function readFiles(paths: readonly string[]): ReadAnswer & { readonly content: Uint8Array<ArrayBuffer> } {
  const parts: Uint8Array[] = []
  const files = paths.map((path) => {
    const found = readFile(path)
    if (found !== undefined) parts.push(found.bytes)
    return found?.file
  })
  return { content: join(parts), files }
}

/** Reads a file; undefined if it is large, or cannot be read. */
function readFile(path: string): { readonly bytes: Uint8Array; readonly file: ReadFile } | undefined {
  try {
    const opened = new HostFile(path)
    try {
      if (opened.stats.size > MAX_BYTES) return undefined
      const bytes = opened.readAll()
      const attributes = toTransferAttributes(opened.stats)
      return { bytes, file: { size: bytes.length, attributes, hashes: hashContent(bytes) } }
    } finally {
      opened.close()
    }
  } catch {
    return undefined
  }
}

/** Joins parts in memory of their own, which can be transferred. */
function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let length = 0
  for (const part of parts) {
    joined.set(part, length)
    length += part.length
  }
  return joined
}
