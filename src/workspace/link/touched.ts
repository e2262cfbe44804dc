import type { SessionChange } from '../session/index.ts'
import { ancestorsOf } from './tree.ts'

/** A path that is touched; `isCovered` if nothing of what was there and below it is left. */
export interface TouchedPath {
  readonly path: string
  readonly isCovered: boolean
}

/** The paths that a session's changes are about, and those that a fork had changed and the session no longer has. */
export class Touched {
  readonly #mentioned = new Map<string, TouchedPath>()
  readonly #changed: ReadonlySet<string>
  #holding: ReadonlySet<string> | undefined
  /** Of what the fork had changed, what is now as in the directory again. */
  readonly takenBack: readonly string[]

  /**
   * @param changed what the fork has changed.
   * @param isOwn whether the session began with a change of the fork, or made it: others come from elsewhere.
   */
  constructor(
    changes: readonly SessionChange[],
    changed: Iterable<string>,
    isOwn: (path: string) => boolean = () => true,
  ) {
    for (const change of changes) {
      const isCovered = change.kind === 'gone' || change.type !== 'directory'
      this.#mentioned.set(change.path, { path: change.path, isCovered })
    }
    this.#changed = new Set(changed)
    // A session tells everything that differs from the directory: what it does not tell is as in the directory again.
    this.takenBack = [...this.#changed].filter((path) => isOwn(path) && !this.mentions(path))
  }

  /** The paths that the session's changes are about. */
  mentioned(): Iterable<TouchedPath> {
    return this.#mentioned.values()
  }

  /** Whether the fork's change of a path goes on: then what it began from is known already. */
  isGoingOn(path: string): boolean {
    return this.#changed.has(path) && this.mentions(path)
  }

  /** Whether it goes on with a change of something below a path. */
  holdsWhatGoesOn(path: string): boolean {
    this.#holding ??= new Set([...this.#changed].filter((each) => this.mentions(each)).flatMap(ancestorsOf))
    return this.#holding.has(path)
  }

  /** Whether a session's changes are about a path, or something it was in. */
  mentions(path: string): boolean {
    return (
      this.#mentioned.has(path) ||
      ancestorsOf(path).some((above) => this.#mentioned.get(above)?.isCovered === true)
    )
  }
}
