import type { VaultSize } from '../scale.ts'

/** The directory that holds all files of a large vault. */
export const TREE = '/tree'

const FILES_PER_DIRECTORY = 100
const DIRECTORIES_PER_PACKAGE = 10

/** Files of 20 to 100 bytes in packages of ten directories of a hundred; no two alike. */
export function pathOf(index: number): string {
  const directory = Math.floor(index / FILES_PER_DIRECTORY)
  const parent = Math.floor(directory / DIRECTORIES_PER_PACKAGE)
  const place = `package-${padded(parent, 4)}/dir-${directory % DIRECTORIES_PER_PACKAGE}`
  return `${TREE}/${place}/file-${padded(index, 7)}.txt`
}

export function contentOf(index: number): string {
  return `file ${index}\n`.padEnd(20 + (index % 81), 'abcdefgh\n')
}

/** Indexes spread evenly over a vault, the same for the same count and shift. */
export function spread(count: number, files: number, shift = 0): number[] {
  return Array.from({ length: count }, (_, index) => (Math.floor((index * files) / count) + shift) % files)
}

/** A name for a vault no other round or part has taken. */
export function uniqueName(source: VaultSize, purpose: string): string {
  return `${purpose}-${source}-${process.pid}-${++names}`
}

let names = 0

function padded(value: number, width: number): string {
  return String(value).padStart(width, '0')
}
