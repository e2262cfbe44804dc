import { type FileType, isVfsError } from '../../vfs/index.ts'
import type { InodeEntry } from '../inode-fs.ts'
import { PARENT, SELF } from '../listing-cookies.ts'
import {
  direntBytes,
  ENTRY_OUT_BYTES,
  entryKind,
  putDirent,
  putEntryToSkip,
  type Reply,
  type Request,
} from '../protocol/index.ts'
import { type Connection, type Operation, tell } from './operation.ts'

/** The kinds a directory knows, as a mode has them. */
const formats = { file: 0o100000, directory: 0o040000, symlink: 0o120000 } as const
/** The fewest bytes an entry takes, which tells how many to ask for. */
const SHORTEST_ENTRY = 32

export const readdir: Operation = (request, reply, connection) => {
  new Listing(request, reply, connection, false).put()
}

/** A listing that looks everything up on the way. */
export const readdirplus: Operation = (request, reply, connection) => {
  new Listing(request, reply, connection, true).put()
}

/** One answer's part of a directory: as many entries as the kernel has room for. */
class Listing {
  readonly #directory: number
  readonly #cookie: number
  readonly #size: number
  readonly #reply: Reply
  readonly #connection: Connection
  readonly #isPlus: boolean

  constructor(request: Request, reply: Reply, connection: Connection, isPlus: boolean) {
    this.#directory = request.node
    this.#cookie = request.u64(8)
    this.#size = Math.min(request.u32(16), reply.room)
    this.#reply = reply
    this.#connection = connection
    this.#isPlus = isPlus
  }

  put(): void {
    const { files, cookies } = this.#connection
    if (!this.#putDots()) return
    const after = cookies.nameBefore(this.#directory, this.#cookie)
    // Behind a place nobody remembers there is nothing: better than everything once more.
    if (this.#cookie > PARENT && after === undefined) return
    const limit = Math.ceil(this.#size / (SHORTEST_ENTRY + (this.#isPlus ? ENTRY_OUT_BYTES : 0)))
    for (const entry of files.readdir(this.#directory, after, limit)) {
      if (!this.#hasRoomFor(entry.name)) return
      this.#putEntry(entry)
    }
  }

  /** The directory itself and its parent, which no file system keeps as names. False if there is no room for them. */
  #putDots(): boolean {
    const { files } = this.#connection
    for (const [name, cookie] of [
      ['.', SELF],
      ['..', PARENT],
    ] as const) {
      if (this.#cookie >= cookie) continue
      if (!this.#hasRoomFor(name)) return false
      const ino = cookie === SELF ? this.#directory : files.parentOf(this.#directory)
      if (this.#isPlus) putEntryToSkip(this.#reply)
      putDirent(this.#reply, ino, cookie, name, entryKind(formats.directory))
    }
    return true
  }

  #putEntry({ name, type, inode }: InodeEntry): void {
    const cookie = this.#connection.cookies.behind(this.#directory, name)
    if (this.#isPlus) this.#tellIfPresent(inode)
    putDirent(this.#reply, inode, cookie, name, this.#kindOf(type, inode))
  }

  /** A directory does not know pipes, sockets and devices apart: their inodes do. */
  #kindOf(type: FileType, ino: number): number {
    if (type !== 'other') return entryKind(formats[type])
    try {
      return entryKind(this.#connection.attributes.of(ino).mode)
    } catch (error) {
      if (isVfsError(error, 'ENOENT')) return 0
      throw error
    }
  }

  /** Another process may have removed it since it was listed: then there is only its name, as a plain listing has. */
  #tellIfPresent(ino: number): void {
    try {
      tell(this.#reply, this.#connection, ino)
    } catch (error) {
      if (!isVfsError(error, 'ENOENT')) throw error
      putEntryToSkip(this.#reply)
    }
  }

  #hasRoomFor(name: string): boolean {
    const bytes = direntBytes(name) + (this.#isPlus ? ENTRY_OUT_BYTES : 0)
    return this.#reply.length + bytes <= this.#size
  }
}
