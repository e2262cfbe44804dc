import { child } from '../../../vfs/index.ts'
import { applyOperation } from '../../files/apply.ts'
import { Files, type Moment, ROOT_INODE } from '../../files/files.ts'
import type { Place } from '../../files/naming.ts'
import type { FileOperation } from '../../files/operation.ts'

const MOST_NAME_BYTES = 255

/** Our tree as it becomes, and the operations that make it so: each is done at once, so the next can look. */
export class Draft {
  readonly files: Files
  readonly operations: FileOperation[] = []
  readonly #moment: Moment = { time: { seconds: 0, nanos: 0 }, seq: 0 }
  #asides = 0

  constructor(ours: Files) {
    this.files = new Files(ours.tree.fork())
  }

  perform(operation: FileOperation): void {
    applyOperation(this.files, operation, this.#moment)
    this.operations.push(operation)
  }

  has(number: number | undefined): number is number {
    return number !== undefined && this.files.inodeIfPresent(number) !== undefined
  }

  at({ parent, name }: Place): number | undefined {
    return this.files.entry(parent, name)?.inode
  }

  pathAt({ parent, name }: Place): string {
    return child(this.files.pathOf(parent), name)
  }

  move(from: Place, to: Place): void {
    const [path, target] = [this.pathAt(from), this.pathAt(to)]
    if (!isAside(path) && !isAside(target)) {
      this.perform({ op: 'rename', path, to: target, overwrite: false })
      return
    }
    const places = { from: [from.parent, from.name], target: [to.parent, to.name] } as const
    this.perform({ op: 'move', path, to: target, ...places, mode: 'refuse', keep: false })
  }

  /** Takes something out of the way, to a name that no user can give. */
  moveAside(from: Place): Place {
    const aside = { parent: ROOT_INODE, name: `/${++this.#asides}` }
    this.move(from, aside)
    return aside
  }

  /** Takes a name away; a directory with all in it, unless it is out of the way: then it must be empty. */
  unlink({ parent, name }: Place): void {
    const path = this.pathAt({ parent, name })
    if (isAside(path)) this.perform({ op: 'unlink', path, parent, name, keep: false })
    else this.perform({ op: 'remove', path, recursive: true })
  }

  /** The name with that of a vault behind it, such as no other file in the directory has. */
  besides({ parent, name }: Place, vault: string): Place {
    for (let count = 1; ; count++) {
      const ending = count === 1 ? `~${vault}` : `~${vault}~${count}`
      const place = { parent, name: shortened(name, MOST_NAME_BYTES - Buffer.byteLength(ending)) + ending }
      if (this.at(place) === undefined) return place
    }
  }
}

/** Whether a path leads to, or into, something that is out of the way. */
export function isAside(path: string): boolean {
  return path.startsWith('//')
}

function shortened(name: string, mostBytes: number): string {
  let short = name
  while (Buffer.byteLength(short) > mostBytes) short = [...short].slice(0, -1).join('')
  return short
}
