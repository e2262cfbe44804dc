import { Blobs, type Files, type OpenInode, type Plan, placeInJournal } from '../../store/index.ts'
import { VfsError } from '../../vfs/index.ts'
import { DetachedFiles } from './detached-files.ts'
import type { FilesSource } from './files-source.ts'

/** Files, and where their bytes are. */
export interface Ground {
  readonly source: FilesSource
  readonly blobs: Blobs
}

/** A file as it is, for whoever reads or changes it. */
interface Target {
  readonly files: Files
  readonly blobs: Blobs
  readonly inode: number
  /** Where the journal says it is. */
  readonly path: string
}

/** Where an append goes, decided on the very state it is committed to. */
export function endOf({ files, inode }: Target): number {
  return files.inode(inode).size
}

/** What was removed while it was open, for all who have it open: seen by nobody else, stored nowhere. */
const orphans = new WeakMap<Files, Ground>()

/**
 * A file that somebody has open. It stays with the file when that is renamed, and has it still when it is removed, by
 * whichever process; only where the engine lets callers wait, a removed file is ENOENT.
 */
export class Opened {
  readonly #path: string
  readonly #ground: Ground
  readonly #inode: OpenInode

  /** @param path where it was opened, for errors. */
  constructor(path: string, ground: Ground, inode: number) {
    this.#path = path
    this.#ground = ground
    const isHeld = ground.blobs.reader.engine.answersAtOnce === true
    this.#inode = isHeld
      ? ground.source.opens.open(inode)
      : { number: inode, isGone: false, lost: undefined, close: () => {} }
  }

  /** Whether it has no name any more, as far as was seen. */
  get isLost(): boolean {
    return this.#inode.lost !== undefined
  }

  /** Where it is now: in the vault, or apart from it. */
  get ground(): Ground {
    const { lost } = this.#inode
    return lost === undefined ? this.#ground : this.#orphan(lost)
  }

  /** The file as everybody left it. ENOENT. */
  now(op: string): Target {
    // Asked first: it takes in what others did, and only then is it known whether this file is still there.
    const files = this.#ground.source.read()
    const { source, blobs } = this.ground
    return this.#target(this.isLost ? source.read() : files, blobs, op)
  }

  /** A plan for its ground as it is now. */
  plan(op: string, decide: (target: Target) => ReturnType<Plan>): Plan {
    const { isLost } = this
    const { blobs } = this.ground
    return (files) => {
      // Asked again: what others did may be known only now, and its number may name another file already.
      if (this.#inode.isGone && !isLost) throw this.#removed(op)
      return decide(this.#target(files, blobs, op))
    }
  }

  close(): void {
    this.#inode.close()
  }

  #target(files: Files, blobs: Blobs, op: string): Target {
    const inode = this.#inode.number
    const there = files.inodeIfPresent(inode)
    if (there === undefined) throw this.#removed(op)
    return { files, blobs, inode, path: placeInJournal(files, inode, there) }
  }

  #removed(op: string): VfsError {
    return new VfsError('ENOENT', this.#path, { op, detail: 'the file was removed while it was open' })
  }

  #orphan(lost: Files): Ground {
    const known = orphans.get(lost)
    if (known !== undefined) return known
    const { blobs } = this.#ground
    // Its blobs never wait for a commit, so they must not be among those that do.
    const isApart = blobs.waitingBytes === Number.POSITIVE_INFINITY
    const own = isApart ? blobs : new Blobs(blobs.reader, blobs.nextId, Number.POSITIVE_INFINITY)
    const orphan = { source: new DetachedFiles(lost, blobs.reader), blobs: own }
    orphans.set(lost, orphan)
    return orphan
  }
}
