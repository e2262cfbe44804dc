import { countMatches, type GrepMode, type Walked } from './volume.ts'

/** The part of `node:fs/promises` that bulk work needs; memfs and zenfs have it too. */
export interface NodeStyle {
  /** The entries of a directory with their types. */
  list(directory: string): Promise<readonly Entry[]>
  size(path: string): Promise<number | bigint>
  text(path: string): Promise<string>
}

export interface Entry {
  readonly name: string | Uint8Array
  isDirectory(): boolean
}

/**
 * Directory by directory, the files of each all at once. Tried against one file after the other and against
 * `readdir` with `recursive`: this is the fastest for each of the three, on disk by a factor of two.
 */
export async function walkDirectories(fs: NodeStyle, root: string): Promise<Walked> {
  let files = 0
  let bytes = 0
  for await (const paths of filesByDirectory(fs, root)) {
    files += paths.length
    for (const size of await Promise.all(paths.map((path) => fs.size(path)))) bytes += Number(size)
  }
  return { files, bytes }
}

export async function countMatchingLines(
  fs: NodeStyle,
  root: string,
  pattern: RegExp,
  mode: GrepMode,
): Promise<number> {
  let found = 0
  for await (const paths of filesByDirectory(fs, root)) {
    for (const text of await Promise.all(paths.map((path) => fs.text(path)))) {
      found += countMatches(text, pattern, mode)
    }
  }
  return found
}

/** An open file, as all three have it. */
interface ReadableHandle {
  read(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number }>
  close(): Promise<unknown>
}

/** Reads a file chunk by chunk, each into memory of its own, as a consumer that keeps chunks needs it. */
export async function readHandle(handle: ReadableHandle, chunkSize: number): Promise<number> {
  try {
    let bytes = 0
    for (;;) {
      const { bytesRead } = await handle.read(new Uint8Array(chunkSize), 0, chunkSize, bytes)
      if (bytesRead === 0) return bytes
      bytes += bytesRead
    }
  } finally {
    await handle.close()
  }
}

interface WritableHandle {
  write(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesWritten: number }>
  close(): Promise<unknown>
}

/** Writes a file chunk by chunk. */
export async function writeHandle(handle: WritableHandle, chunks: Iterable<Uint8Array>): Promise<void> {
  try {
    let position = 0
    for (const chunk of chunks) {
      position += (await handle.write(chunk, 0, chunk.length, position)).bytesWritten
    }
  } finally {
    await handle.close()
  }
}

async function* filesByDirectory(fs: NodeStyle, root: string): AsyncGenerator<string[]> {
  const directories = [root]
  for (let directory = directories.pop(); directory !== undefined; directory = directories.pop()) {
    const files: string[] = []
    for (const entry of await fs.list(directory)) {
      const path = `${directory}/${entry.name}`
      if (entry.isDirectory()) directories.push(path)
      else files.push(path)
    }
    yield files
  }
}
