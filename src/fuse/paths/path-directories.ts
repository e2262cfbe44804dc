import type { DirEntry } from '../../vfs/index.ts'
import { getDirentSize, putDirent, toEntryType } from '../protocol/index.ts'
import type { PathNode } from './node-table.ts'
import { OpenDirectory } from './open-directory.ts'
import { formatBits } from './path-attributes.ts'
import { emptyReply, type PathRequestHandler } from './path-request-handler.ts'

/** Inode number in a listing for a file that the kernel does not know yet. */
const UNKNOWN_INODE = 0xffff_ffff
const DOTS: readonly DirEntry[] = [
  { name: '.', type: 'directory' },
  { name: '..', type: 'directory' },
]

export const opendir: PathRequestHandler = async (request, { files, directories }, ctx) => {
  const path = files.table.getPath(files.table.get(request.node))
  // The listing outlives this request; its release ends it.
  const { signal: _, ...listingCtx } = ctx
  const directory = new OpenDirectory(files.fs, path, listingCtx)
  await directory.rewind()
  // A failing listing fails at its first entry.
  await directory.getEntry(0)
  return (reply) => {
    reply.u64(directories.add(directory))
    reply.zeros(8)
  }
}

export const readdir: PathRequestHandler = async (request, connection) => {
  const directory = connection.directories.get(request.u64(0))
  const first = request.u64(8)
  const node = connection.files.table.get(request.node)
  const entries = await readEntries(directory, first, request.u32(16))
  return (reply) => {
    for (const [index, { name, type }] of entries.entries()) {
      putDirent(reply, getInodeNumber(node, name), first + index + 1, name, toEntryType(formatBits[type]))
    }
  }
}

export const releasedir: PathRequestHandler = async (request, { directories }) => {
  await directories.remove(request.u64(0)).close()
  return emptyReply
}

/** Reads entries from an index on, as many as fit. Index 0 restarts the listing. */
async function readEntries(directory: OpenDirectory, first: number, room: number): Promise<DirEntry[]> {
  const entries: DirEntry[] = []
  let bytes = 0
  if (first === 0) await directory.rewind()
  for (let index = first; ; index++) {
    const entry = DOTS[index] ?? (await directory.getEntry(index - DOTS.length))
    if (entry === undefined) return entries
    bytes += getDirentSize(entry.name)
    if (bytes > room) return entries
    entries.push(entry)
  }
}

function getInodeNumber(directory: PathNode, name: string): number {
  if (name === '.') return directory.ino
  if (name === '..') return directory.parent?.ino ?? directory.ino
  return directory.children.get(name)?.ino ?? UNKNOWN_INODE
}
