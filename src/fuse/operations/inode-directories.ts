import { type FileType, isVfsError } from '../../vfs/index.ts'
import type { InodeEntry } from '../inode-fs.ts'
import { PARENT_COOKIE, SELF_COOKIE } from '../listing-cookies.ts'
import {
  ENTRY_OUT_BYTES,
  type FuseReply,
  type FuseRequest,
  getDirentSize,
  putDirent,
  putEntryToSkip,
  toEntryType,
} from '../protocol/index.ts'
import { type FuseConnection, type InodeRequestHandler, replyWithInode } from './inode-request-handler.ts'

/** File types that a directory stores, as mode bits. */
const formats = { file: 0o100000, directory: 0o040000, symlink: 0o120000 } as const
/** Minimum size of an entry in bytes, which bounds the number of entries to read. */
const MIN_ENTRY_BYTES = 32

export const readdir: InodeRequestHandler = (request, reply, connection) => {
  new InodeListing(request, reply, connection, false).write()
}

/** Lists a directory with a lookup of every entry. */
export const readdirplus: InodeRequestHandler = (request, reply, connection) => {
  new InodeListing(request, reply, connection, true).write()
}

/** The part of a directory for one reply: as many entries as fit. */
class InodeListing {
  readonly #directory: number
  readonly #cookie: number
  readonly #size: number
  readonly #reply: FuseReply
  readonly #connection: FuseConnection
  readonly #isPlus: boolean

  constructor(request: FuseRequest, reply: FuseReply, connection: FuseConnection, isPlus: boolean) {
    this.#directory = request.node
    this.#cookie = request.u64(8)
    this.#size = Math.min(request.u32(16), reply.room)
    this.#reply = reply
    this.#connection = connection
    this.#isPlus = isPlus
  }

  write(): void {
    const { files, cookies } = this.#connection
    if (!this.#putDots()) return
    const after = cookies.findName(this.#directory, this.#cookie)
    // An unknown cookie ends the listing; restarting it would repeat entries.
    if (this.#cookie > PARENT_COOKIE && after === undefined) return
    const limit = Math.ceil(this.#size / (MIN_ENTRY_BYTES + (this.#isPlus ? ENTRY_OUT_BYTES : 0)))
    for (const entry of files.readdir(this.#directory, after, limit)) {
      if (!this.#hasRoomFor(entry.name)) return
      this.#putEntry(entry)
    }
  }

  /** Adds `.` and `..`, which no file system stores. False if they do not fit. */
  #putDots(): boolean {
    const { files } = this.#connection
    for (const [name, cookie] of [
      ['.', SELF_COOKIE],
      ['..', PARENT_COOKIE],
    ] as const) {
      if (this.#cookie >= cookie) continue
      if (!this.#hasRoomFor(name)) return false
      const ino = cookie === SELF_COOKIE ? this.#directory : files.getParent(this.#directory)
      if (this.#isPlus) putEntryToSkip(this.#reply)
      putDirent(this.#reply, ino, cookie, name, toEntryType(formats.directory))
    }
    return true
  }

  #putEntry({ name, type, inode }: InodeEntry): void {
    const cookie = this.#connection.cookies.getCookie(this.#directory, name)
    if (this.#isPlus) this.#putLookup(inode)
    putDirent(this.#reply, inode, cookie, name, this.#getEntryType(type, inode))
  }

  /**
   * Returns the `d_type` of an entry; 0 if the file was removed. An entry does not distinguish pipes, sockets and devices,
   * but their inodes do.
   */
  #getEntryType(type: FileType, ino: number): number {
    if (type !== 'other') return toEntryType(formats[type])
    try {
      return toEntryType(this.#connection.attributes.get(ino).mode)
    } catch (error) {
      if (isVfsError(error, 'ENOENT')) return 0
      throw error
    }
  }

  /** Adds the lookup result of an entry; a placeholder if another process has removed the file since it was listed. */
  #putLookup(ino: number): void {
    try {
      replyWithInode(this.#reply, this.#connection, ino)
    } catch (error) {
      if (!isVfsError(error, 'ENOENT')) throw error
      putEntryToSkip(this.#reply)
    }
  }

  #hasRoomFor(name: string): boolean {
    const bytes = getDirentSize(name) + (this.#isPlus ? ENTRY_OUT_BYTES : 0)
    return this.#reply.length + bytes <= this.#size
  }
}
