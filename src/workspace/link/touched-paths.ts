import type { SessionChange } from '../session/index.ts'
import { listAncestors } from './tree.ts'

/** A changed path; `isCovered` if nothing of its earlier entry and the entries below is left. */
export interface TouchedPath {
  readonly path: string
  readonly isCovered: boolean
}

/** The paths that a session changed, and those that a fork had changed and the session no longer does. */
export class TouchedPaths {
  readonly #paths = new Map<string, TouchedPath>()
  /** Paths that the fork had changed, and that stay changed. */
  readonly #continued: ReadonlySet<string>
  #continuedParents: ReadonlySet<string> | undefined
  /** Paths that the fork had changed and that equal the directory again. */
  readonly reverted: readonly string[]

  /**
   * @param changed paths that the fork has changed.
   * @param isOwn reports whether the session started with a change of the fork, or made it: others come from
   * elsewhere.
   */
  constructor(
    changes: readonly SessionChange[],
    changed: Iterable<string>,
    isOwn: (path: string) => boolean = () => true,
  ) {
    for (const change of changes) {
      const isCovered = change.kind === 'gone' || change.type !== 'directory'
      this.#paths.set(change.path, { path: change.path, isCovered })
    }
    const all = [...changed]
    // A session reports all differences from the directory, so any other path equals the directory again.
    this.reverted = all.filter((path) => isOwn(path) && !this.includes(path))
    this.#continued = new Set(all).difference(new Set(this.reverted))
  }

  /** Lists the paths that the session changed. */
  listPaths(): Iterable<TouchedPath> {
    return this.#paths.values()
  }

  /** True if the fork already changed a path, and it stays changed: its base is then known. */
  isContinued(path: string): boolean {
    return this.#continued.has(path)
  }

  /** True if the fork already changed something below a path that stays changed. */
  hasContinuedBelow(path: string): boolean {
    this.#continuedParents ??= new Set([...this.#continued].flatMap(listAncestors))
    return this.#continuedParents.has(path)
  }

  /** True if a session's changes include a path, or a directory above it. */
  includes(path: string): boolean {
    return (
      this.#paths.has(path) || listAncestors(path).some((above) => this.#paths.get(above)?.isCovered === true)
    )
  }
}
