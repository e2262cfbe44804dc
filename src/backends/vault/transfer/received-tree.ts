import {
  type BlobRef,
  CHUNK_BYTES,
  type FileOperation,
  type Inode,
  type MaybePromise,
  type VaultFiles,
} from '../../../store/index.ts'
import {
  assertLinkTarget,
  basename,
  dirname,
  type ErrorCode,
  isVfsError,
  isWithin,
  VfsError,
} from '../../../vfs/index.ts'
import type { StagedTree } from './staged-tree.ts'
import { createStreamError } from './stream-format.ts'
import type { BlobNumber, StreamOperation } from './stream-operations.ts'

const ROOT = '/'
const MAX_INLINE_BYTES = CHUNK_BYTES
const MAX_MODE = 0xffff
const HOLE: BlobRef = { blob: 0, size: 0, crc: 0 }
/** Error codes of an operation that does not fit the tree. */
const MISMATCH_CODES: readonly ErrorCode[] = ['ENOENT', 'EEXIST', 'ENOTDIR', 'EISDIR', 'ENOTEMPTY', 'EINVAL']

type OperationOf<Op extends StreamOperation['op']> = Extract<StreamOperation, { readonly op: Op }>

/** A path with its parent inode and name. */
interface TreePosition {
  readonly path: string
  readonly parent: number
  readonly name: string
}

/**
 * Applies the operations of a stream to a staged tree. Paths are resolved name by name and never through a link. An
 * operation that does not fit throws EINVAL, because a stream is not trusted.
 */
export class ReceivedTree {
  readonly #stage: StagedTree
  readonly #blobs: BlobRef[] = []

  constructor(stage: StagedTree) {
    this.#stage = stage
  }

  addBlob(blob: BlobRef): void {
    this.#blobs.push(blob)
  }

  apply(operations: readonly StreamOperation[]): MaybePromise<void> {
    return this.#stage.apply((files, perform) => {
      for (const operation of operations) {
        try {
          for (const step of this.#translate(files, operation)) perform(step)
        } catch (error) {
          if (!MISMATCH_CODES.some((code) => isVfsError(error, code))) throw error
          throw createStreamError(
            'EINVAL',
            `the stream does not fit: ${error instanceof Error ? error.message : ''}`,
          )
        }
      }
    })
  }

  #translate(files: VaultFiles, operation: StreamOperation): FileOperation[] {
    const { path } = operation
    switch (operation.op) {
      case 'make':
        return [this.#make(files, operation)]
      case 'link': {
        const { number, inode } = getExisting(files, path)
        if (inode.type === 'directory') throw createMismatchError(path, 'a directory cannot have hard links')
        return [{ op: 'link', inode: number, ...getPosition(files, operation.to) }]
      }
      case 'move':
        return [this.#move(files, operation)]
      case 'remove':
        return [{ op: 'unlink', keep: false, ...getPosition(files, path) }]
      case 'write':
        return this.#write(files, operation)
      case 'patch':
        return [this.#patch(files, operation)]
      case 'attributes': {
        const { mode, uid, gid, mtime } = operation
        assertMode(path, mode)
        const [seconds, nanos] = mtime
        return [
          {
            op: 'attributes',
            path,
            inode: getExisting(files, path).number,
            mode,
            uid,
            gid,
            mtime: { seconds, nanos },
          },
        ]
      }
      case 'xattr':
        return [{ ...operation, inode: getExisting(files, path).number }]
      case 'tags':
        return [this.#tags(files, operation)]
      case 'meta':
        getExisting(files, path)
        return [{ op: 'meta', path, values: operation.values }]
    }
  }

  #make(files: VaultFiles, { path, type, mode, uid, gid, text }: OperationOf<'make'>): FileOperation {
    assertMode(path, mode)
    if (type === 'symlink') assertLinkTarget(text ?? '')
    const creation = { op: 'create', type, mode, uid, gid, ...getPosition(files, path) } as const
    return text === undefined ? creation : { ...creation, text }
  }

  #move(files: VaultFiles, { path, to }: OperationOf<'move'>): FileOperation {
    if (isWithin(to, path)) throw createMismatchError(path, `'${to}' lies inside it`)
    const [from, target] = [getPosition(files, path), getPosition(files, to)]
    const places = { from: [from.parent, from.name], target: [target.parent, target.name] } as const
    return { op: 'move', path, to, ...places, mode: 'refuse', keep: false }
  }

  #write(files: VaultFiles, operation: OperationOf<'write'>): FileOperation[] {
    const { path, size } = operation
    const { number } = getFile(files, path)
    const whole = { op: 'write', path, parents: false } as const
    if ('inline' in operation) {
      const { length } = Buffer.from(operation.inline, 'base64')
      if (length !== size || size > MAX_INLINE_BYTES)
        throw createMismatchError(path, 'the size does not match the content')
      return [{ ...whole, content: { size, inline: operation.inline } }]
    }
    if (operation.chunks.length !== chunkCount(size))
      throw createMismatchError(path, 'the size does not match the content')
    const chunks = operation.chunks.map((blob) => this.#getBlobRef(path, blob))
    if (
      chunks.every(({ size: length }, index) => length >= Math.min(CHUNK_BYTES, size - index * CHUNK_BYTES))
    )
      return [{ ...whole, content: { size, chunks } }]
    // Only a patch can leave holes, so the file is emptied first.
    const pieces = chunks.flatMap((ref, index) => (ref === HOLE ? [] : [[index, ref] as const]))
    return [
      { ...whole, content: { size: 0, inline: '' } },
      { op: 'patch', path, inode: number, size, chunks: pieces },
    ]
  }

  #patch(files: VaultFiles, { path, size, chunks }: OperationOf<'patch'>): FileOperation {
    const { number, inode } = getFile(files, path)
    if (inode.content instanceof Uint8Array && inode.size > 0)
      throw createMismatchError(path, 'the content is not chunked')
    const pieces = chunks.map(([index, blob]) => {
      if (index >= chunkCount(size))
        throw createMismatchError(path, 'a chunk lies behind the end of the file')
      return [index, blob === null ? null : this.#getBlobRef(path, blob)] as const
    })
    return { op: 'patch', path, inode: number, size, chunks: pieces }
  }

  #tags(files: VaultFiles, { path, add, remove }: OperationOf<'tags'>): FileOperation {
    getExisting(files, path)
    if ([...add, ...remove].some((tag) => tag === '' || tag.includes('\0')))
      throw createMismatchError(path, 'a tag is invalid')
    return { op: 'tag', path, add, remove }
  }

  #getBlobRef(path: string, blob: BlobNumber): BlobRef {
    const ref = blob === null ? HOLE : this.#blobs[blob]
    if (ref === undefined) throw createMismatchError(path, `blob ${blob} is missing`)
    return ref
  }
}

function getExisting(files: VaultFiles, path: string): { number: number; inode: Inode } {
  const number = files.findByPath(path)
  if (number === undefined) throw new VfsError('ENOENT', path, { op: 'receive' })
  return { number, inode: files.getInode(number) }
}

function getFile(files: VaultFiles, path: string): { number: number; inode: Inode } {
  const found = getExisting(files, path)
  if (found.inode.type !== 'file') throw createMismatchError(path, 'the path is not a file')
  return found
}

function getPosition(files: VaultFiles, path: string): TreePosition {
  if (path === ROOT) throw createMismatchError(path, 'the root exists always')
  const { number, inode } = getExisting(files, dirname(path))
  if (inode.type !== 'directory') throw new VfsError('ENOTDIR', path, { op: 'receive' })
  return { path, parent: number, name: basename(path) }
}

function assertMode(path: string, mode: number): void {
  if (mode > MAX_MODE) throw createMismatchError(path, 'the mode is invalid')
}

function chunkCount(size: number): number {
  return Math.ceil(size / CHUNK_BYTES)
}

function createMismatchError(path: string, detail: string): VfsError {
  return new VfsError('EINVAL', path, { op: 'receive', detail })
}
