import type { VaultSize } from '../scale.ts'

/** The directory that holds all files of a large vault. */
export const TREE = '/tree'

const FILES_PER_DIRECTORY = 100
const DIRECTORIES_PER_PACKAGE = 10

/** Returns the path of a file by its number: packages of ten directories of a hundred files. */
export function getFilePath(index: number): string {
  const directory = Math.floor(index / FILES_PER_DIRECTORY)
  const parent = Math.floor(directory / DIRECTORIES_PER_PACKAGE)
  const place = `package-${padNumber(parent, 4)}/dir-${directory % DIRECTORIES_PER_PACKAGE}`
  return `${TREE}/${place}/file-${padNumber(index, 7)}.txt`
}

/** Returns the content of a file by its number: 20 to 100 bytes, no two files alike. */
export function createFileContent(index: number): string {
  return `file ${index}\n`.padEnd(20 + (index % 81), 'abcdefgh\n')
}

/** Returns numbers of files spread evenly over a vault, the same for the same count and shift. */
export function spreadIndexes(count: number, files: number, shift = 0): number[] {
  return Array.from({ length: count }, (_, index) => (Math.floor((index * files) / count) + shift) % files)
}

/** Returns a name for a vault that no other round or part has taken. */
export function uniqueName(source: VaultSize, purpose: string): string {
  return `${purpose}-${source}-${process.pid}-${++names}`
}

let names = 0

function padNumber(value: number, width: number): string {
  return String(value).padStart(width, '0')
}
