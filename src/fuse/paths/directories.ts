import type { DirEntry } from '../../vfs/index.ts'
import { direntBytes, entryKind, putDirent } from '../protocol/index.ts'
import type { Node } from './node-table.ts'
import { OpenDirectory } from './open-directory.ts'
import { formats } from './path-attributes.ts'
import { done, type PathOperation } from './path-operation.ts'

/** What a listing gives for a file the kernel does not know yet. */
const NO_NUMBER = 0xffff_ffff
const DOTS: readonly DirEntry[] = [
  { name: '.', type: 'directory' },
  { name: '..', type: 'directory' },
]

export const opendir: PathOperation = async (request, { files, directories }, ctx) => {
  const path = files.table.pathOf(files.table.get(request.node))
  // The listing outlives this request, and is ended by its release.
  const { signal: _, ...lasting } = ctx
  const directory = new OpenDirectory(files.fs, path, lasting)
  await directory.rewind()
  // A listing fails with its first entry, if it does.
  await directory.at(0)
  return (reply) => {
    reply.u64(directories.add(directory))
    reply.zeros(8)
  }
}

export const readdir: PathOperation = async (request, connection) => {
  const directory = connection.directories.get(request.u64(0))
  const first = request.u64(8)
  const node = connection.files.table.get(request.node)
  const entries = await entriesFrom(directory, first, request.u32(16))
  return (reply) => {
    for (const [index, { name, type }] of entries.entries()) {
      putDirent(reply, numberOf(node, name), first + index + 1, name, entryKind(formats[type]))
    }
  }
}

export const releasedir: PathOperation = async (request, { directories }) => {
  await directories.take(request.u64(0)).close()
  return done
}

/** As many entries as there is room for. */
async function entriesFrom(directory: OpenDirectory, first: number, room: number): Promise<DirEntry[]> {
  const entries: DirEntry[] = []
  let bytes = 0
  if (first === 0) await directory.rewind()
  for (let index = first; ; index++) {
    const entry = DOTS[index] ?? (await directory.at(index - DOTS.length))
    if (entry === undefined) return entries
    bytes += direntBytes(entry.name)
    if (bytes > room) return entries
    entries.push(entry)
  }
}

function numberOf(directory: Node, name: string): number {
  if (name === '.') return directory.ino
  if (name === '..') return directory.parent?.ino ?? directory.ino
  return directory.children.get(name)?.ino ?? NO_NUMBER
}
