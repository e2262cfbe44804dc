/** A file to write: its path below the root of a volume, and its content. */
export interface CorpusFile {
  readonly path: string
  readonly bytes: Uint8Array
}

/** The pattern of the grep works; in one file of a hundred there is one line with it. */
export const NEEDLE: RegExp = /needle-\d+/
const FILES_PER_NEEDLE = 100

const FILES_PER_DIRECTORY = 100
const TEXT_BYTES = 1024
const TREE_FILE_BYTES = 64
const encoder = new TextEncoder()

/** Ordinary source code, with the letters of the pattern and near misses in it, so that no shortcut is for free. */
const LINES: readonly string[] = [
  'export async function serve(request: Request, needles: Needle[]): Promise<Response> {',
  '  const startedAt = performance.now()',
  "  if (request.method !== 'GET') return new Response(null, { status: 405 })",
  '  // A well-known place to look for one is a haystack - or so they say.',
  "  const name = request.headers.get('x-name') ?? 'needle'",
  '  const found = needles.filter((needle) => needle.name === name && needle.size > 0)',
  "  log.info('needles', found.length, needles.length, performance.now() - startedAt)",
  '  return Response.json(found, { status: found.length === 0 ? 404 : 200 })',
  '}',
  '',
]

/** Creates text files of 1 KiB, a hundred in each directory; one of a hundred has a line with the needle. */
export function createTextFiles(count: number): CorpusFile[] {
  return Array.from({ length: count }, (_, index) => ({
    path: `/dir-${padNumber(Math.floor(index / FILES_PER_DIRECTORY), 2)}/file-${padNumber(index, 5)}.txt`,
    bytes: encoder.encode(text(index)),
  }))
}

export function countNeedles(count: number): number {
  return Math.ceil(count / FILES_PER_NEEDLE)
}

/** Creates small files in a deeper tree: packages of ten directories of a hundred files. */
export function createTreeFiles(count: number): CorpusFile[] {
  return Array.from({ length: count }, (_, index) => {
    const directory = Math.floor(index / FILES_PER_DIRECTORY)
    const parent = `/package-${padNumber(Math.floor(directory / 10), 3)}/dir-${directory % 10}`
    return {
      path: `${parent}/file-${padNumber(index, 6)}.txt`,
      bytes: new Uint8Array(TREE_FILE_BYTES).fill(index),
    }
  })
}

/** Lists the directories of files, each once. */
export function listDirectories(files: readonly CorpusFile[]): string[] {
  return [...new Set(files.map(({ path }) => path.slice(0, path.lastIndexOf('/'))))]
}

export function totalBytes(files: readonly CorpusFile[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes.length, 0)
}

/** Yields chunks of one size as a network does: never all in memory at once. */
export function* generateChunks(totalSize: number, chunkSize: number): Generator<Uint8Array> {
  const chunk = new Uint8Array(chunkSize).map((_, index) => index)
  for (let sent = 0; sent < totalSize; sent += chunkSize) yield chunk
}

function text(index: number): string {
  const lines = index % FILES_PER_NEEDLE === 0 ? [`  return find('needle-${index}')`] : []
  for (let line = 0, size = 0; size < TEXT_BYTES; line++) {
    const next = `${LINES[line % LINES.length]} // ${index}:${line}`
    lines.push(next)
    size += next.length + 1
  }
  return `${lines.join('\n').slice(0, TEXT_BYTES - 1)}\n`
}

function padNumber(value: number, width: number): string {
  return String(value).padStart(width, '0')
}
