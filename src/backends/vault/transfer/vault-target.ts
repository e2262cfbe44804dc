import {
  type Answer,
  type Besides,
  type Blobs,
  type FileOperation,
  Files,
  type Inode,
  inlineText,
  type Provenance,
  type StoredContent,
  storeBytes,
  storeStream,
  Upload,
  type VaultLog,
} from '../../../store/index.ts'
import { VfsError } from '../../../vfs/index.ts'
import type { Attributes } from './attributes.ts'

/** Something a vault had when an import began. */
export interface Seen {
  readonly number: number
  readonly inode: Inode
}

/**
 * Where an import puts things. Every path is meant as it is: no link of the vault on the way is followed, because an
 * import replaces what is not a directory where it needs one.
 */
export class VaultTarget {
  readonly #log: VaultLog
  readonly #blobs: Blobs
  readonly #by: Provenance
  readonly #before: Files

  private constructor(log: VaultLog, blobs: Blobs, by: Provenance, before: Files) {
    this.#log = log
    this.#blobs = blobs
    this.#by = by
    this.#before = before
  }

  static async open(log: VaultLog, blobs: Blobs, by: Provenance): Promise<VaultTarget> {
    await blobs.reader.session.enter()
    const before = await blobs.reader.resolve(() => new Files(log.read().tree.fork()))
    // Kept as long as the target is.
    blobs.reader.session.hold(before.tree)
    return new VaultTarget(log, blobs, by, before)
  }

  /** Where a path leads when links are followed, and what was there. Makes it. ENOTDIR. */
  async place(path: string): Promise<{ path: string; seen: Seen | undefined }> {
    const at = await this.#blobs.reader.resolve(() => {
      const resolved = this.#before.resolve(path, true, 'import')
      return { path: resolved, seen: seenAt(this.#before, this.#before.find(resolved)) }
    })
    if (at.seen === undefined) await this.#submit(() => ({ op: 'mkdir', path: at.path, parents: true }))
    else if (at.seen.inode.type !== 'directory') throw new VfsError('ENOTDIR', path, { op: 'import' })
    return at
  }

  /** What a directory had under a name when the import began. */
  look(directory: Seen | undefined, name: string): Answer<Seen | undefined> {
    if (directory?.inode.type !== 'directory') return undefined
    return this.#blobs.reader.resolve(() =>
      seenAt(this.#before, this.#before.entry(directory.number, name)?.inode),
    )
  }

  /** Committed together with whatever else is submitted before the next turn. */
  writeBytes(path: string, bytes: Uint8Array, attributes: Attributes): Promise<void> {
    const stored = this.#blobs.reader.resolve(() => storeBytes(bytes, this.#blobs))
    const write = (content: StoredContent) => this.#write(path, content, attributes)
    return stored instanceof Promise ? stored.then(write) : write(stored)
  }

  async writeStream(path: string, bytes: AsyncIterable<Uint8Array>, attributes: Attributes): Promise<void> {
    await using upload = new Upload(this.#blobs)
    const content = await storeStream(bytes, this.#blobs, upload)
    await this.#write(path, content, attributes, upload.besides)
  }

  makeDirectory(path: string, mode: number): Promise<void> {
    const mkdir: FileOperation = { op: 'mkdir', path, parents: false, mode }
    return this.#submit((files) => {
      const seen = inodeAt(files, path)
      if (seen?.type === 'directory') return { ...mkdir, parents: true }
      return seen === undefined ? mkdir : replacing(path, mkdir)
    })
  }

  makeLink(path: string, target: string, { mtime }: Attributes): Promise<void> {
    const symlink: FileOperation = { op: 'symlink', path, target }
    const made = this.#submit((files) =>
      inodeAt(files, path) === undefined ? symlink : replacing(path, symlink),
    )
    return made.then(() => this.setAttributes(path, { mtime }))
  }

  setAttributes(path: string, attributes: Partial<Attributes>): Promise<void> {
    return this.#submit((files) => {
      const inode = files.find(path)
      if (inode === undefined)
        throw new VfsError('ENOENT', path, { op: 'import', detail: 'it was removed meanwhile' })
      return { op: 'attributes', path, inode, ...attributes }
    })
  }

  #write(path: string, content: StoredContent, attributes: Attributes, besides?: Besides): Promise<void> {
    const write: FileOperation = { op: 'write', path, content, parents: false, ...attributes }
    return this.#submit((files) => {
      const seen = inodeAt(files, path)
      return seen === undefined || seen.type === 'file' ? write : replacing(path, write)
    }, besides)
  }

  #submit(plan: (files: Files) => FileOperation, besides?: Besides): Promise<void> {
    return this.#log.submit(plan, this.#by, besides)
  }
}

export function isLinkTo(seen: Seen | undefined, target: string): boolean {
  return seen?.inode.type === 'symlink' && inlineText(seen.inode.content) === target
}

/** What is there goes in the same step; a directory that holds something does not go. */
function replacing(path: string, operation: FileOperation): FileOperation {
  return { op: 'batch', path, operations: [{ op: 'remove', path, recursive: false }, operation] }
}

function seenAt(files: Files, number: number | undefined): Seen | undefined {
  return number === undefined ? undefined : { number, inode: files.inode(number) }
}

function inodeAt(files: Files, path: string): Inode | undefined {
  const number = files.find(path)
  return number === undefined ? undefined : files.inode(number)
}
