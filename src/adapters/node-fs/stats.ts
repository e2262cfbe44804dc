import { constants } from 'node:fs'
import { type FileType, getPermissions, type SyncStat } from '../../vfs/index.ts'

/** Owner of all files, and the umask of new ones. */
export interface Ownership {
  readonly uid: number
  readonly gid: number
  readonly umask: number
}

const TYPE_BITS: Readonly<Record<FileType, number>> = {
  file: constants.S_IFREG,
  directory: constants.S_IFDIR,
  symlink: constants.S_IFLNK,
  other: constants.S_IFCHR,
}

/** Device number; packages that compare files treat 0 as unknown. */
const DEVICE = 1
/** Value of `blksize`: the size of reads that programs should use. */
const IO_BYTES = 4096
/** Unit of `blocks`, whatever `blksize` is. */
const BLOCK_BYTES = 512

/** Returns type and permissions as in `st_mode`. */
export function modeBits({ type, mode }: Pick<SyncStat, 'type' | 'mode'>): number {
  return TYPE_BITS[type] | getPermissions({ type, mode })
}

/** Type predicates and dates of both kinds of stats. A date is created when it is first read, and can be set, as in Node. */
abstract class BaseStats {
  abstract readonly mode: number | bigint
  abstract readonly atimeMs: number | bigint
  abstract readonly mtimeMs: number | bigint
  abstract readonly ctimeMs: number | bigint
  abstract readonly birthtimeMs: number | bigint

  declare atime: Date
  declare mtime: Date
  declare ctime: Date
  declare birthtime: Date

  isFile(): boolean {
    return this.#is(constants.S_IFREG)
  }

  isDirectory(): boolean {
    return this.#is(constants.S_IFDIR)
  }

  isSymbolicLink(): boolean {
    return this.#is(constants.S_IFLNK)
  }

  isCharacterDevice(): boolean {
    return this.#is(constants.S_IFCHR)
  }

  isBlockDevice(): boolean {
    return this.#is(constants.S_IFBLK)
  }

  isFIFO(): boolean {
    return this.#is(constants.S_IFIFO)
  }

  isSocket(): boolean {
    return this.#is(constants.S_IFSOCK)
  }

  #is(type: number): boolean {
    return (Number(this.mode) & constants.S_IFMT) === type
  }
}

for (const name of ['atime', 'mtime', 'ctime', 'birthtime'] as const) {
  Object.defineProperty(BaseStats.prototype, name, {
    configurable: true,
    get(this: BaseStats): Date {
      this[name] = new Date(Number(this[`${name}Ms`]))
      return this[name]
    },
    /** Replaces the accessor by a field of this object. */
    set(this: BaseStats, date: Date) {
      const field = { value: date, writable: true, enumerable: true, configurable: true }
      Object.defineProperty(this, name, field)
    },
  })
}

/** Metadata as `fs.Stats`. All four times are the modification time, the only one that file systems store. */
export class Stats extends BaseStats {
  readonly dev: number = DEVICE
  readonly mode: number
  readonly nlink: number
  readonly uid: number
  readonly gid: number
  readonly rdev: number = 0
  readonly blksize: number = IO_BYTES
  readonly ino: number
  readonly size: number
  readonly blocks: number
  readonly atimeMs: number
  readonly mtimeMs: number
  readonly ctimeMs: number
  readonly birthtimeMs: number

  constructor(stat: SyncStat, { uid, gid }: Ownership) {
    super()
    this.mode = modeBits(stat)
    this.nlink = stat.nlink
    this.uid = uid
    this.gid = gid
    this.ino = stat.ino
    this.size = stat.size
    this.blocks = Math.ceil(stat.size / BLOCK_BYTES)
    const time = stat.mtime.getTime()
    this.atimeMs = time
    this.mtimeMs = time
    this.ctimeMs = time
    this.birthtimeMs = time
  }
}

const NS_PER_MS = 1_000_000n

/** Metadata as bigints, for `{ bigint: true }`. */
export class BigIntStats extends BaseStats {
  readonly dev: bigint
  readonly mode: bigint
  readonly nlink: bigint
  readonly uid: bigint
  readonly gid: bigint
  readonly rdev: bigint
  readonly blksize: bigint
  readonly ino: bigint
  readonly size: bigint
  readonly blocks: bigint
  readonly atimeMs: bigint
  readonly mtimeMs: bigint
  readonly ctimeMs: bigint
  readonly birthtimeMs: bigint
  readonly atimeNs: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
  readonly birthtimeNs: bigint

  constructor(stats: Stats) {
    super()
    this.dev = BigInt(stats.dev)
    this.mode = BigInt(stats.mode)
    this.nlink = BigInt(stats.nlink)
    this.uid = BigInt(stats.uid)
    this.gid = BigInt(stats.gid)
    this.rdev = BigInt(stats.rdev)
    this.blksize = BigInt(stats.blksize)
    this.ino = BigInt(stats.ino)
    this.size = BigInt(stats.size)
    this.blocks = BigInt(stats.blocks)
    const ms = BigInt(Math.floor(stats.mtimeMs))
    const ns = ms * NS_PER_MS
    this.atimeMs = ms
    this.mtimeMs = ms
    this.ctimeMs = ms
    this.birthtimeMs = ms
    this.atimeNs = ns
    this.mtimeNs = ns
    this.ctimeNs = ns
    this.birthtimeNs = ns
  }
}
