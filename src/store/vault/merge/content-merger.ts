import { listDentries } from '../../files/directory-entries.ts'
import type { VaultFiles } from '../../files/vault-files.ts'
import { isText, mergeText, type TextSides } from '../../text/index.ts'
import type { BlobStore } from '../blob-store.ts'
import { getStoredContent, isSameContent, readContent, storeBytes } from '../file-content.ts'
import { createFromTheirs } from './create-from-theirs.ts'
import type { Conflicts } from './merge-conflicts.ts'
import type { MergeDraft } from './merge-draft.ts'
import { mergeLabels } from './merge-labels.ts'
import type { MergeSides } from './merge-sides.ts'

/** A file that exists on both sides. Without a base, both created it. */
export interface InodePair {
  readonly base: number | undefined
  readonly ours: number
  readonly theirs: number
}

/** Merges their content and labels into our files. */
export class ContentMerger {
  readonly #sides: MergeSides
  readonly #blobs: BlobStore
  readonly #draft: MergeDraft
  readonly #conflicts: Conflicts

  constructor(sides: MergeSides, blobs: BlobStore, draft: MergeDraft, conflicts: Conflicts) {
    this.#sides = sides
    this.#blobs = blobs
    this.#draft = draft
    this.#conflicts = conflicts
  }

  /** Reports whether a side changed the content or mode of a base file. */
  isChanged(base: number, side: VaultFiles, number: number): boolean {
    const { base: old } = this.#sides
    return (
      old.getInode(base).mode !== side.getInode(number).mode || !this.#hasSameContent(old, base, side, number)
    )
  }

  /** Reports whether our file has the content of theirs. */
  isSameAsTheirs(ours: number, theirs: number): boolean {
    return this.#hasSameContent(this.#draft.files, ours, this.#sides.theirs, theirs)
  }

  /** Merges content, attributes and labels of a file that both sides have. */
  merge(pair: InodePair): void {
    const { base, theirs } = this.#sides
    const number = theirs.getInode(pair.theirs).type === 'directory' ? pair.ours : this.#mergeContent(pair)
    mergeLabels(this.#draft, number, {
      base: pair.base === undefined ? undefined : [base, pair.base],
      theirs: [theirs, pair.theirs],
      prefersTheirs: this.#conflicts.prefersTheirs(theirs.getPath(pair.theirs)),
    })
  }

  /** Returns the inode with the merged content: a symlink with a new target is a new inode. */
  #mergeContent(pair: InodePair): number {
    const { base, theirs } = this.#sides
    const isOurs = pair.base !== undefined && this.#hasSameContent(base, pair.base, theirs, pair.theirs)
    if (isOurs || this.isSameAsTheirs(pair.ours, pair.theirs)) return pair.ours
    const isTheirs =
      pair.base !== undefined && this.#hasSameContent(base, pair.base, this.#draft.files, pair.ours)
    return isTheirs ? this.#replace(pair) : this.#mergeBothChanged(pair)
  }

  /** Replaces our content with theirs; returns the inode that has it. */
  #replace({ ours, theirs: number }: InodePair): number {
    const { files } = this.#draft
    const { theirs } = this.#sides
    const { type, mtime } = theirs.getInode(number)
    if (type === 'file') {
      const content = getStoredContent(theirs, number)
      this.#draft.apply({ op: 'write', path: files.getPath(ours), content, parents: false, mtime })
      return ours
    }
    // A link's target cannot be written: every name of the old inode becomes a name of a new one.
    const { parent, name } = files.getInode(ours)
    const names = listDentries(files, ours, files.getInode(ours))
    for (const dentry of names) this.#draft.unlink(dentry)
    const inode = createFromTheirs(this.#draft, theirs, number, { parent, name })
    for (const dentry of names) {
      if (dentry.parent === parent && dentry.name === name) continue
      this.#draft.apply({ op: 'link', path: this.#draft.getPath(dentry), inode, ...dentry })
    }
    return inode
  }

  /** Merges line by line if both changed a text file; otherwise resolves the conflict. */
  #mergeBothChanged(pair: InodePair): number {
    const { names, theirs } = this.#sides
    const texts = this.#readTexts(pair)
    const merged = texts && mergeText(texts, names)
    if (merged !== undefined && !merged.hasConflict) return this.#write(pair.ours, merged.text)
    const resolution = this.#conflicts.resolve(theirs.getPath(pair.theirs), pair, texts)
    if (resolution === 'ours') return pair.ours
    if (resolution === 'theirs') return this.#replace(pair)
    if (typeof resolution !== 'string') return this.#writeBytes(pair.ours, resolution.bytes)
    if (texts !== undefined) return this.#write(pair.ours, mergeText(texts, names, resolution).text)
    const beside = this.#draft.findFreeDentry(this.#draft.files.getInode(pair.ours), names.theirs)
    createFromTheirs(this.#draft, theirs, pair.theirs, beside)
    return pair.ours
  }

  #write(number: number, text: string): number {
    return this.#writeBytes(number, Buffer.from(text, 'latin1'))
  }

  #writeBytes(number: number, bytes: Uint8Array): number {
    const content = storeBytes(bytes, this.#blobs)
    const path = this.#draft.files.getPath(number)
    this.#draft.apply({ op: 'write', path, content, parents: false })
    return number
  }

  /** Reads the three versions of a text; undefined for a binary file on either side, and other types. */
  #readTexts({ base: old, ours: mine, theirs: their }: InodePair): TextSides | undefined {
    const { base, theirs } = this.#sides
    if (theirs.getInode(their).type !== 'file') return undefined
    const before = old === undefined ? '' : this.#readText(base, old)
    const [ourText, theirText] = [this.#readText(this.#draft.files, mine), this.#readText(theirs, their)]
    if (ourText === undefined || theirText === undefined) return undefined
    return { base: before ?? '', ours: ourText, theirs: theirText }
  }

  /**
   * Reads a file with each byte as a character, which preserves text in any encoding. Undefined for a binary file, of
   * which it reads only the beginning.
   */
  #readText(files: VaultFiles, number: number): string | undefined {
    const parts: Uint8Array[] = []
    for (const part of readContent(files, number, this.#blobs)) {
      if (parts.length === 0 && !isText(part)) return undefined
      parts.push(part)
    }
    return Buffer.concat(parts).toString('latin1')
  }

  #hasSameContent(one: VaultFiles, number: number, other: VaultFiles, otherNumber: number): boolean {
    return isSameContent(one, number, other, otherNumber, this.#blobs)
  }
}
