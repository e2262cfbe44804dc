import { child } from '../../../vfs/index.ts'
import { applyOperation } from '../../files/apply.ts'
import type { Dentry } from '../../files/directory-entries.ts'
import type { FileOperation } from '../../files/operation.ts'
import { type Moment, ROOT_INODE, VaultFiles } from '../../files/vault-files.ts'

const MAX_NAME_BYTES = 255

/** The merge result in progress and its operations: each is applied immediately, so that the next step sees it. */
export class MergeDraft {
  readonly files: VaultFiles
  readonly operations: FileOperation[] = []
  readonly #moment: Moment = { time: { seconds: 0, nanos: 0 }, seq: 0 }
  #asideCount = 0

  constructor(ours: VaultFiles) {
    this.files = new VaultFiles(ours.tree.fork())
  }

  /** Applies an operation, and adds it to the plan. */
  apply(operation: FileOperation): void {
    applyOperation(this.files, operation, this.#moment)
    this.operations.push(operation)
  }

  hasInode(number: number | undefined): number is number {
    return number !== undefined && this.files.findInode(number) !== undefined
  }

  findInode({ parent, name }: Dentry): number | undefined {
    return this.files.findEntry(parent, name)?.inode
  }

  getPath({ parent, name }: Dentry): string {
    return child(this.files.getPath(parent), name)
  }

  /** Moves an entry to a free dentry. */
  move(from: Dentry, to: Dentry): void {
    const [path, target] = [this.getPath(from), this.getPath(to)]
    if (!isAside(path) && !isAside(target)) {
      this.apply({ op: 'rename', path, to: target, overwrite: false })
      return
    }
    const dentries = { from: [from.parent, from.name], target: [to.parent, to.name] } as const
    this.apply({ op: 'move', path, to: target, ...dentries, mode: 'refuse', keep: false })
  }

  /** Moves an entry aside, to a name that no user can create. */
  moveAside(from: Dentry): Dentry {
    const aside = { parent: ROOT_INODE, name: `/${++this.#asideCount}` }
    this.move(from, aside)
    return aside
  }

  /** Removes a name; a directory with its contents, unless it was moved aside: then it must be empty. */
  unlink({ parent, name }: Dentry): void {
    const path = this.getPath({ parent, name })
    if (isAside(path)) this.apply({ op: 'unlink', path, parent, name, keep: false })
    else this.apply({ op: 'remove', path, recursive: true })
  }

  /** Returns a free dentry in the directory: the name with the vault's name appended. */
  findFreeDentry({ parent, name }: Dentry, vault: string): Dentry {
    for (let count = 1; ; count++) {
      const ending = count === 1 ? `~${vault}` : `~${vault}~${count}`
      const dentry = { parent, name: truncateName(name, MAX_NAME_BYTES - Buffer.byteLength(ending)) + ending }
      if (this.findInode(dentry) === undefined) return dentry
    }
  }
}

/** Reports whether a path is, or lies inside, an entry that was moved aside. */
export function isAside(path: string): boolean {
  return path.startsWith('//')
}

function truncateName(name: string, maxBytes: number): string {
  let short = name
  while (Buffer.byteLength(short) > maxBytes) short = [...short].slice(0, -1).join('')
  return short
}
