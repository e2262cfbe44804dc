import { readFileSync } from 'node:fs'
import { isErrno } from '../../machine/index.ts'

/** Numbers of a directory before those of its entries: change time and inode. */
export const DIRECTORY_NUMBERS = 2
/** Numbers of an entry: change time, size and inode. */
export const ENTRY_NUMBERS = 3
const FORMAT = 1
const NUMBER_BYTES = 8

/** A directory as it was found, without its subdirectories' entries. */
export interface IndexedDirectory {
  /** Files and links. */
  readonly names: readonly string[]
  readonly directories: readonly string[]
  /** Entries that are not recorded. */
  readonly excluded: readonly string[]
  /** Stats of the directory, then of each name. */
  readonly stats: Float64Array
}

/**
 * The stats of a directory tree at its last record. It only saves reading: a lost or stale index costs time, and no
 * change is missed.
 */
export class StatIndex {
  /** Start of the scan, in milliseconds since the epoch. */
  readonly takenAt: number
  /** The settings that it was made with. */
  readonly settings: string
  /** By path; the root is ''. */
  readonly directories: Map<string, IndexedDirectory>

  constructor(takenAt: number, settings: string, directories: Map<string, IndexedDirectory> = new Map()) {
    this.takenAt = takenAt
    this.settings = settings
    this.directories = directories
  }

  /** Reads an index; an empty one if the file is missing, damaged or made with other settings. */
  static read(file: string, settings: string): StatIndex {
    try {
      return StatIndex.#parse(readFileSync(file), settings) ?? new StatIndex(0, settings)
    } catch (error) {
      if (isErrno(error, 'ENOENT') || error instanceof SyntaxError || error instanceof RangeError)
        return new StatIndex(0, settings)
      throw error
    }
  }

  static #parse(bytes: Buffer, settings: string): StatIndex | undefined {
    const length = bytes.readUInt32LE(0)
    const header: IndexHeader = JSON.parse(bytes.toString('utf8', NUMBER_BYTES, NUMBER_BYTES + length))
    if (header.format !== FORMAT || header.settings !== settings) return undefined
    const numbers = bytes.subarray(NUMBER_BYTES + length)
    // A copy, because the numbers need not be aligned in the file.
    const stats = new Float64Array(numbers.length / NUMBER_BYTES)
    Buffer.from(stats.buffer).set(numbers.subarray(0, stats.length * NUMBER_BYTES))
    const directories = new Map<string, IndexedDirectory>()
    let at = 0
    for (const [path, names, subdirectories, excluded] of header.directories) {
      const end = at + DIRECTORY_NUMBERS + ENTRY_NUMBERS * names.length
      if (end > stats.length) return undefined
      directories.set(path, { names, directories: subdirectories, excluded, stats: stats.subarray(at, end) })
      at = end
    }
    return new StatIndex(header.takenAt, settings, directories)
  }

  toBytes(): Buffer {
    const header: IndexHeader = {
      format: FORMAT,
      takenAt: this.takenAt,
      settings: this.settings,
      directories: [...this.directories].map(([path, { names, directories, excluded }]) => [
        path,
        names,
        directories,
        excluded,
      ]),
    }
    const text = Buffer.from(JSON.stringify(header))
    const length = Buffer.alloc(NUMBER_BYTES)
    length.writeUInt32LE(text.length)
    const stats = [...this.directories.values()].map(({ stats }) =>
      Buffer.from(stats.buffer, stats.byteOffset, stats.byteLength),
    )
    return Buffer.concat([length, text, ...stats])
  }

  /** Lists a directory's path and every path below it. */
  listBelow(path: string): string[] {
    const found = this.directories.get(path)
    if (found === undefined) return [path]
    return [
      path,
      ...found.names.map((name) => `${path}/${name}`),
      ...found.directories.flatMap((name) => this.listBelow(`${path}/${name}`)),
    ]
  }
}

interface IndexHeader {
  readonly format: number
  readonly takenAt: number
  readonly settings: string
  readonly directories: readonly (readonly [
    path: string,
    names: readonly string[],
    directories: readonly string[],
    excluded: readonly string[],
  ])[]
}
