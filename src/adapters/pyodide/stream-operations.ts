import type { FsAttributeChanges, FsStream, OpenStreamFile, StreamOps } from './emscripten.ts'
import { getErrno } from './errno.ts'
import { createListingNode } from './listing-node.ts'
import type { MountedFiles } from './mounted-files.ts'
import { toAttributes } from './stat-attributes.ts'

const ACCESS = 0o3
const APPEND = 0o2000
const [FROM_POSITION, FROM_END] = [1, 2]

/** Copies bytes into the interpreter's memory for a mapping. */
export type MapBytes = (bytes: Uint8Array) => { readonly ptr: number; readonly allocated: boolean }

/** Creates the operations on descriptors. Files are read and written in place, with one handle for each `open`. */
export function createStreamOperations(files: MountedFiles, mapBytes: MapBytes): StreamOps {
  return {
    ...createDescriptorOperations(files),
    ...createContentOperations(files),
    ...createMappingOperations(files, mapBytes),
  }
}

function createDescriptorOperations(
  files: MountedFiles,
): Pick<StreamOps, 'open' | 'dup' | 'close' | 'getattr' | 'setattr' | 'llseek'> {
  return {
    open: (stream) => openStream(files, stream),
    dup: ({ opened }) => {
      if (opened !== undefined) opened.descriptors += 1
    },
    close: ({ opened }) => {
      if (opened === undefined) return
      opened.descriptors -= 1
      if (opened.descriptors === 0) files.attempt(() => opened.handle.close())
    },
    getattr: (stream) => files.attempt(() => toAttributes(statStream(files, stream), files.device)),
    setattr: (stream, changes) => files.attempt(() => changeAttributes(files, stream, changes)),
    llseek: (stream, offset, whence) => files.attempt(() => seek(files, stream, offset, whence)),
  }
}

function createContentOperations(files: MountedFiles): Pick<StreamOps, 'read' | 'write' | 'fsync'> {
  return {
    read: (stream, buffer, offset, length, position) =>
      files.attempt(() => {
        const bytes = requireFile(files, stream).handle.read(position, length)
        buffer.set(bytes, offset)
        return bytes.length
      }),
    write: (stream, buffer, offset, length, position) =>
      files.attempt(() => {
        const bytes = new Uint8Array(buffer.buffer, buffer.byteOffset + offset, length)
        requireFile(files, stream).handle.write(position, bytes)
        return length
      }),
    fsync: ({ opened }) =>
      files.attempt(() => {
        opened?.handle.sync()
        return 0
      }),
  }
}

function createMappingOperations(files: MountedFiles, mapBytes: MapBytes): Pick<StreamOps, 'mmap' | 'msync'> {
  return {
    mmap: (stream, length, position) =>
      files.attempt(() => {
        const bytes = new Uint8Array(length)
        bytes.set(requireFile(files, stream).handle.read(position, length))
        return mapBytes(bytes)
      }),
    // Bytes mapped past the end of a file are not part of it.
    msync: (stream, buffer, offset, length) =>
      files.attempt(() => {
        const kept = Math.min(length, requireFile(files, stream).handle.stat().size - offset)
        if (kept > 0) writeInPlace(files, stream, offset, buffer.subarray(0, kept))
        return 0
      }),
  }
}

function openStream(files: MountedFiles, stream: FsStream): void {
  if (files.runtime.isDir(stream.node.mode)) {
    stream.node = createListingNode(files, stream.node)
    return
  }
  const [write, append] = [(stream.flags & ACCESS) !== 0, isAppending(stream)]
  const createdHandle = files.takeCreated(stream.node)
  const openNow = () => files.sync.open(files.getPath(stream.node), { write, append }, files.ctx)
  // The file is created before the append flag is known.
  const handle = createdHandle !== undefined && !append ? createdHandle : files.attempt(openNow)
  if (createdHandle !== undefined && append) files.attempt(() => createdHandle.close())
  stream.opened = { handle, descriptors: 1 }
}

function isAppending({ flags }: FsStream): boolean {
  return (flags & APPEND) !== 0
}

/** Writes at a position even if the descriptor appends, for a mapping. */
function writeInPlace(files: MountedFiles, stream: FsStream, position: number, bytes: Uint8Array): void {
  const { handle } = requireFile(files, stream)
  if (!isAppending(stream)) {
    handle.write(position, bytes)
    return
  }
  const other = files.sync.open(files.getPath(stream.node), { write: true }, files.ctx)
  try {
    other.write(position, bytes)
  } finally {
    other.close()
  }
}

function seek(files: MountedFiles, stream: FsStream, offset: number, whence: number): number {
  const start = whence === FROM_POSITION ? stream.position : whence === FROM_END ? getSize(stream) : 0
  const position = start + offset
  if (position < 0) throw files.createErrnoError(getErrno('EINVAL'))
  return position
}

function getSize({ opened }: FsStream): number {
  return opened?.handle.stat().size ?? 0
}

function requireFile(files: MountedFiles, { opened }: FsStream): OpenStreamFile {
  if (opened === undefined) throw files.createErrnoError(getErrno('EISDIR'))
  return opened
}

function statStream(files: MountedFiles, { opened, node }: FsStream) {
  return opened?.handle.stat() ?? files.sync.stat(files.getPath(node), files.ctx)
}

/** Truncates through the handle; sets the mode by path, and is ENOENT if that leads to another file. */
function changeAttributes(files: MountedFiles, stream: FsStream, changes: FsAttributeChanges): void {
  const { size, mode } = changes
  if (size !== undefined) requireFile(files, stream).handle.truncate(size)
  if (mode === undefined) return
  const path = files.getPath(stream.node)
  if (files.sync.stat(path, files.ctx).ino !== statStream(files, stream).ino)
    throw files.createErrnoError(getErrno('ENOENT'))
  stream.node.node_ops?.setattr?.(stream.node, changes)
}
