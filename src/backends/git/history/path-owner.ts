import { lstatSync, type Stats } from 'node:fs'
import { join } from 'node:path'

/** An entry above a path at which Git stops, instead of a directory of its own repository. */
type Obstacle = 'link' | 'repository'

/**
 * Finds paths of a work tree that Git refuses to look at: behind a link, or in another repository, such
 * as a submodule.
 */
export class PathOwner {
  readonly #directory: string
  readonly #repositories: ReadonlySet<string>
  readonly #found = new Map<string, Obstacle | undefined>()

  /** @param repositories directories that become repositories with the changes, and need not exist yet. */
  constructor(directory: string, repositories: ReadonlySet<string> = new Set()) {
    this.#directory = directory
    this.#repositories = repositories
  }

  /** True if an entry above the path is a link in the directory. */
  isBehindLink(path: string): boolean {
    return listParents(path).some((parent) => this.#look(parent) === 'link')
  }

  /** Returns the directory of the other repository that a path belongs to. */
  findRepository(path: string): string | undefined {
    return listParents(path).find((parent) => this.#look(parent) === 'repository')
  }

  #look(parent: string): Obstacle | undefined {
    if (this.#found.has(parent)) return this.#found.get(parent)
    const path = join(this.#directory, parent)
    const isRepository = this.#repositories.has(parent) || findStats(join(path, '.git')) !== undefined
    const obstacle =
      findStats(path)?.isSymbolicLink() === true ? 'link' : isRepository ? 'repository' : undefined
    this.#found.set(parent, obstacle)
    return obstacle
  }
}

/** Lists the directories above a path from the top, without the root. */
function listParents(path: string): string[] {
  const names = path.split('/').slice(1, -1)
  return names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`)
}

/** Returns the attributes of an entry itself; undefined if there is none, or a file is in its way. */
function findStats(path: string): Stats | undefined {
  try {
    return lstatSync(path)
  } catch {
    return undefined
  }
}
