import { type CorpusFile, createTextFiles } from '../vfs/corpus.ts'

/** In three files of all. */
export const RARE = 'zyzzyva'
export const RARE_MATCHES = 3

/** Text files of 1 KiB, a rare word in a few of them. */
export function createSearchedFiles(count: number): CorpusFile[] {
  const files = createTextFiles(count)
  for (let match = 1; match <= RARE_MATCHES; match++) {
    const at = Math.floor((count * match) / (RARE_MATCHES + 1))
    const file = files[at]
    if (file !== undefined) files[at] = { ...file, bytes: withLine(file.bytes, `const ${RARE} = ${match}\n`) }
  }
  return files
}

function withLine(bytes: Uint8Array, line: string): Uint8Array {
  return Buffer.concat([Buffer.from(line), bytes])
}
