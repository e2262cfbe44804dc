import type { Files } from '../../files/files.ts'
import { isText, mergeText } from '../../text/index.ts'
import type { Blobs } from '../blobs.ts'
import { isSameContent, readContent, storeBytes, storedContentOf } from '../content.ts'
import type { Conflicts } from './conflict.ts'
import { create } from './creation.ts'
import type { Draft } from './draft.ts'
import { mergeLabels } from './labels.ts'
import type { MergeSides } from './sides.ts'

/** A file that is there on both sides. Without a base, both made it. */
export interface Pair {
  readonly base: number | undefined
  readonly ours: number
  readonly theirs: number
}

/** Brings content and labels of theirs to files of ours. */
export class Contents {
  readonly #sides: MergeSides
  readonly #blobs: Blobs
  readonly #draft: Draft
  readonly #conflicts: Conflicts

  constructor(sides: MergeSides, blobs: Blobs, draft: Draft, conflicts: Conflicts) {
    this.#sides = sides
    this.#blobs = blobs
    this.#draft = draft
    this.#conflicts = conflicts
  }

  /** Whether a side gave a file of the base other content, or another mode. */
  isChanged(base: number, side: Files, number: number): boolean {
    const { base: old } = this.#sides
    return old.inode(base).mode !== side.inode(number).mode || !this.#isSame(old, base, side, number)
  }

  isSameAsTheirs(ours: number, theirs: number): boolean {
    return this.#isSame(this.#draft.files, ours, this.#sides.theirs, theirs)
  }

  merge(pair: Pair): void {
    const { base, theirs } = this.#sides
    const number = theirs.inode(pair.theirs).type === 'directory' ? pair.ours : this.#mergeContent(pair)
    mergeLabels(this.#draft, number, {
      base: pair.base === undefined ? undefined : [base, pair.base],
      theirs: [theirs, pair.theirs],
      prefersTheirs: this.#conflicts.keeps === 'theirs',
    })
  }

  /** Returns the inode that has the content now: a link that leads elsewhere is another one. */
  #mergeContent(pair: Pair): number {
    const { base, theirs } = this.#sides
    const isOurs = pair.base !== undefined && this.#isSame(base, pair.base, theirs, pair.theirs)
    if (isOurs || this.isSameAsTheirs(pair.ours, pair.theirs)) return pair.ours
    const isTheirs = pair.base !== undefined && this.#isSame(base, pair.base, this.#draft.files, pair.ours)
    return isTheirs ? this.#replace(pair) : this.#join(pair)
  }

  #replace({ ours, theirs: number }: Pair): number {
    const { files } = this.#draft
    const { theirs } = this.#sides
    const { type, mtime } = theirs.inode(number)
    if (type === 'file') {
      const content = storedContentOf(theirs, number)
      this.#draft.perform({ op: 'write', path: files.pathOf(ours), content, parents: false, mtime })
      return ours
    }
    const { parent, name } = files.inode(ours)
    this.#draft.unlink({ parent, name })
    return create(this.#draft, theirs, number, { parent, name })
  }

  /** Both changed it: by lines if it has any, or a conflict. */
  #join(pair: Pair): number {
    const { files } = this.#draft
    const joined = this.#joinedText(pair)
    if (joined !== undefined && !joined.hasConflict) return this.#write(pair.ours, joined.text)
    this.#conflicts.add(this.#sides.theirs.pathOf(pair.theirs), pair)
    if (this.#conflicts.keeps === 'ours') return pair.ours
    if (this.#conflicts.keeps === 'theirs') return this.#replace(pair)
    if (joined !== undefined) return this.#write(pair.ours, joined.text)
    const beside = this.#draft.besides(files.inode(pair.ours), this.#sides.names.theirs)
    create(this.#draft, this.#sides.theirs, pair.theirs, beside)
    return pair.ours
  }

  #write(number: number, text: string): number {
    const content = storeBytes(Buffer.from(text, 'latin1'), this.#blobs)
    const path = this.#draft.files.pathOf(number)
    this.#draft.perform({ op: 'write', path, content, parents: false })
    return number
  }

  #joinedText({ base: old, ours: mine, theirs: now }: Pair): ReturnType<typeof mergeText> | undefined {
    const { base, theirs, names } = this.#sides
    if (theirs.inode(now).type !== 'file') return undefined
    const before = old === undefined ? '' : this.#text(base, old)
    const [ourText, theirText] = [this.#text(this.#draft.files, mine), this.#text(theirs, now)]
    if (ourText === undefined || theirText === undefined) return undefined
    return mergeText(before ?? '', ourText, theirText, names)
  }

  /**
   * Each byte as a character, so that text in any encoding comes out as it went in.
   * Undefined for what is no text: then no more than its beginning is read.
   */
  #text(files: Files, number: number): string | undefined {
    const parts: Uint8Array[] = []
    for (const part of readContent(files, number, this.#blobs)) {
      if (parts.length === 0 && !isText(part)) return undefined
      parts.push(part)
    }
    return Buffer.concat(parts).toString('latin1')
  }

  #isSame(one: Files, number: number, other: Files, otherNumber: number): boolean {
    return isSameContent(one, number, other, otherNumber, this.#blobs)
  }
}
