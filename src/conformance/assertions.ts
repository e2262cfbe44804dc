import assert from 'node:assert/strict'
import { type ErrorCode, type FileSystem, isVfsError, readFile, type WalkOptions } from '../vfs/index.ts'

/** Asserts that a call, or the first step of a stream, fails with a code and names the path. */
export async function assertRejects(action: () => unknown, code: ErrorCode, path?: string): Promise<void> {
  const error = await catchFailure(action)
  assert.ok(isVfsError(error), `expected ${code}, got ${String(error)}`)
  assert.equal(error.code, code)
  if (path !== undefined) assert.equal(error.path, path)
}

async function catchFailure(action: () => unknown): Promise<unknown> {
  try {
    const result = action()
    if (isAsyncIterable(result)) for await (const _ of result) break
    else await result
  } catch (error) {
    return error
  }
  return assert.fail('expected a failure, but it succeeded')
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

export async function assertBytes(
  fs: FileSystem,
  path: string,
  expected: Uint8Array | string,
): Promise<void> {
  const wanted = typeof expected === 'string' ? Buffer.from(expected) : Buffer.from(expected)
  const actual = Buffer.from(await readFile(fs, path))
  // Not deepEqual: its report on a large difference takes minutes.
  if (actual.equals(wanted)) return
  assert.fail(`${path} holds ${formatPreview(actual)}, not ${formatPreview(wanted)}`)
}

export async function listNames(fs: FileSystem, path: string): Promise<string[]> {
  const found: string[] = []
  for await (const { name } of fs.readdir(path)) found.push(name)
  return found
}

export async function listWalkedPaths(
  fs: FileSystem,
  root: string,
  options?: WalkOptions,
): Promise<string[]> {
  const found: string[] = []
  for await (const { path } of fs.walk(root, options)) found.push(path)
  return found
}

function formatPreview(bytes: Buffer): string {
  return `${bytes.length} bytes (${JSON.stringify(bytes.subarray(0, 60).toString('latin1'))})`
}
