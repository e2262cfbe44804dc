import { decodeUtf8 } from '../bytes.ts'
import { isVfsError } from '../error.ts'
import type { CallContext, Content, FileSystem, ReadOptions, WriteOptions } from '../file-system.ts'
import { isAppendable } from '../protocols.ts'
import { sha256 } from '../runtime.ts'
import { collect, concat, InMemoryByteStream } from '../streams.ts'

const NEWLINE = 10
const TAIL_BLOCK_BYTES = 16 * 1024

/** Returns the whole content of a file, or the part that the options select. */
export async function readFile(
  fs: FileSystem,
  path: string,
  options?: ReadOptions,
  ctx?: CallContext,
): Promise<Uint8Array> {
  const stream = fs.read(path, options, ctx)
  if (stream instanceof InMemoryByteStream) return stream.rest()
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return concat(chunks)
}

/**
 * Returns the content of a file decoded as UTF-8.
 *
 * @example
 * ```ts
 * const fs = new MemoryFs({ '/a.txt': 'one\ntwo\n' })
 * assert.equal(await readText(fs, '/a.txt'), 'one\ntwo\n')
 * ```
 */
export async function readText(
  fs: FileSystem,
  path: string,
  options?: ReadOptions,
  ctx?: CallContext,
): Promise<string> {
  return decodeUtf8(await readFile(fs, path, options, ctx))
}

/** Replaces a file's content; the counterpart of `readFile`. */
export function writeFile(
  fs: FileSystem,
  path: string,
  content: Content,
  options?: WriteOptions,
  ctx?: CallContext,
): Promise<void> {
  return fs.write(path, content, options, ctx)
}

/**
 * Appends to a file, creating it if it is missing. Concurrent appends lose nothing, native or composed.
 *
 * @example
 * ```ts
 * const fs = new MemoryFs()
 * await append(fs, '/log', 'one\n')
 * await append(fs, '/log', 'two\n')
 * assert.equal(await readText(fs, '/log'), 'one\ntwo\n')
 * ```
 */
export async function append(
  fs: FileSystem,
  path: string,
  content: Content,
  ctx?: CallContext,
): Promise<void> {
  if (isAppendable(fs)) return fs.append(path, content, ctx)
  const added = await collect(content)
  for (;;) {
    const old = await readIfPresent(fs, path, ctx)
    try {
      const ifMatch = old === null ? null : sha256(old)
      return await fs.write(path, old === null ? added : concat([old, added]), { ifMatch }, ctx)
    } catch (error) {
      // Another writer was first: append to its content.
      if (!isVfsError(error, 'ECONFLICT')) throw error
      ctx?.signal?.throwIfAborted()
    }
  }
}

/**
 * Returns the last lines of a file. Reads only the end of the file.
 *
 * @example
 * ```ts
 * const fs = new MemoryFs({ '/log': 'one\ntwo\nthree\n' })
 * assert.equal(await tail(fs, '/log', 2), 'two\nthree\n')
 * ```
 */
export async function tail(fs: FileSystem, path: string, lines = 10, ctx?: CallContext): Promise<string> {
  const { type, size } = await fs.stat(path, ctx)
  // A link's size is not the size of its target.
  if (type !== 'file') return takeLastLines(await readText(fs, path, undefined, ctx), lines)
  const blocks: Uint8Array[] = []
  let start = size
  // The newline that ends the file ends its last line; it does not begin another.
  for (let newlines = -1; start > 0 && newlines < lines; ) {
    const length = Math.min(TAIL_BLOCK_BYTES, start)
    start -= length
    const block = await readFile(fs, path, { byteRange: [start, length] }, ctx)
    blocks.unshift(block)
    newlines += countNewlines(block)
  }
  return takeLastLines(decodeUtf8(concat(blocks)), lines)
}

function takeLastLines(content: string, lines: number): string {
  let start = content.endsWith('\n') ? content.length - 1 : content.length
  for (let found = 0; found < lines; found++) {
    const newline = start > 0 ? content.lastIndexOf('\n', start - 1) : -1
    if (newline === -1) return content
    start = newline
  }
  return lines === 0 ? '' : content.slice(start + 1)
}

function countNewlines(bytes: Uint8Array): number {
  let count = 0
  for (let index = bytes.indexOf(NEWLINE); index !== -1; index = bytes.indexOf(NEWLINE, index + 1)) count++
  return count
}

async function readIfPresent(fs: FileSystem, path: string, ctx?: CallContext): Promise<Uint8Array | null> {
  try {
    return await readFile(fs, path, undefined, ctx)
  } catch (error) {
    if (isVfsError(error, 'ENOENT')) return null
    throw error
  }
}
