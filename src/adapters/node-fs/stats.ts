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
const BLOCK_BYTES = 4096
const UNIT_BYTES = 512

/** Returns type and permissions as in `st_mode`. */
export function modeBits({ type, mode }: Pick<SyncStat, 'type' | 'mode'>): number {
  return TYPE_BITS[type] | getPermissions({ type, mode })
}

/** Type predicates of both kinds of stats. */
abstract class TypedStats {
  abstract readonly mode: number | bigint

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

/** Metadata as `fs.Stats`. All four times are the modification time, the only one that file systems store. */
export class Stats extends TypedStats {
  readonly dev: number = DEVICE
  readonly mode: number
  readonly nlink: number
  readonly uid: number
  readonly gid: number
  readonly rdev: number = 0
  readonly blksize: number = BLOCK_BYTES
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
    this.blocks = Math.ceil(stat.size / UNIT_BYTES)
    const time = stat.mtime.getTime()
    this.atimeMs = time
    this.mtimeMs = time
    this.ctimeMs = time
    this.birthtimeMs = time
  }

  get atime(): Date {
    return new Date(this.atimeMs)
  }

  get mtime(): Date {
    return new Date(this.mtimeMs)
  }

  get ctime(): Date {
    return new Date(this.ctimeMs)
  }

  get birthtime(): Date {
    return new Date(this.birthtimeMs)
  }
}

const NS_PER_MS = 1_000_000n

/** Metadata as bigints, for `{ bigint: true }`. */
export class BigIntStats extends TypedStats {
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
  readonly #time: number

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
    this.#time = Math.floor(stats.mtimeMs)
    const [ms, ns] = [BigInt(this.#time), BigInt(this.#time) * NS_PER_MS]
    this.atimeMs = ms
    this.mtimeMs = ms
    this.ctimeMs = ms
    this.birthtimeMs = ms
    this.atimeNs = ns
    this.mtimeNs = ns
    this.ctimeNs = ns
    this.birthtimeNs = ns
  }

  get atime(): Date {
    return new Date(this.#time)
  }

  get mtime(): Date {
    return new Date(this.#time)
  }

  get ctime(): Date {
    return new Date(this.#time)
  }

  get birthtime(): Date {
    return new Date(this.#time)
  }
}
