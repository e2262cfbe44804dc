import type { FileType } from '../vfs/index.ts'

/** Part of a repository that a path below `.git` belongs to. */
type GitPart =
  | 'object'
  | 'object-info'
  | 'ref'
  | 'packed-refs'
  | 'log'
  | 'index'
  | 'note'
  | 'template'
  | 'other'

/** A path inside of a repository's `.git`, also of a submodule or another worktree. */
export interface GitPath {
  /** The path of `.git` itself. */
  readonly root: string
  readonly part: GitPart
  /** The directory with `objects`. */
  readonly store: string
  /** The path below `.git`, or below the submodule or worktree in it. For a ref it is its name, `refs/heads/main`. */
  readonly name: string
}

const PATH_IN_GIT = /^((?:\/.*)?\/\.git)\/(.+)$/
const NESTED_REPOSITORY = /^(?:(?:modules|worktrees)\/.+?\/)?(?=(?:objects|refs|logs|info)\/|[^/]+$)/
const PARTS: readonly (readonly [part: GitPart, form: RegExp])[] = [
  ['object', /^objects\/(?:[0-9a-f]{2}(?:\/|$)|pack(?:\/|$))/],
  ['object-info', /^objects\/info(?:\/|$)/],
  ['log', /^logs(?:\/|$)/],
  ['ref', /^(?:refs\/.+|HEAD)$/],
  ['packed-refs', /^packed-refs$/],
  ['index', /^index$/],
  // Left by the last command, and read by none that is not running. `info/refs` is a copy of the refs for web servers.
  ['note', /^(?:COMMIT_EDITMSG|ORIG_HEAD|FETCH_HEAD|AUTO_MERGE|gc\.(?:log|pid)|info\/refs)$/],
  // In every new repository, and without effect. Other hooks run programs.
  ['template', /^(?:description|info\/exclude|hooks\/[^/]+\.sample)$/],
]

/** Parses a path inside of `.git`; undefined for any other path. */
export function parseGitPath(path: string): GitPath | undefined {
  // Most paths are not, and a search is cheaper than the pattern.
  if (!path.includes('/.git/')) return undefined
  const [, root, inside = ''] = PATH_IN_GIT.exec(path) ?? []
  if (root === undefined) return undefined
  const [nested = ''] = NESTED_REPOSITORY.exec(inside) ?? []
  const name = inside.slice(nested.length)
  const [part = 'other' as const] = PARTS.find(([, form]) => form.test(name)) ?? []
  return { root, part, store: `${root}/${nested}`.replace(/\/$/, ''), name }
}

/** True for a path at which the work of two forks meets: that of a file or a branch. */
export function isOverlapPath(path: string): boolean {
  const git = parseGitPath(path)
  return git === undefined || git.part === 'other' || (git.part === 'ref' && git.name !== 'HEAD')
}

/** Directories of every repository that have files of other parts in them. */
const DIRECTORY = /^(?:branches|objects|refs|info|hooks)$/
/** Leads git to objects outside of the repository. */
const ALTERNATES = /^objects\/info\/(?:http-)?alternates$/

/**
 * True for what git keeps by itself, such as objects, logs and refs. False for hooks, settings and all other paths, and
 * for a link in place of anything: that of the hooks leads to programs.
 */
export function isKeptByGit(path: string, type: FileType = 'file'): boolean {
  const git = parseGitPath(path)
  if (git === undefined || ALTERNATES.test(git.name)) return false
  if (type === 'directory') return git.part !== 'other' || DIRECTORY.test(git.name)
  return type === 'file' && git.part !== 'other'
}

const OWN_DIRECTORY = /^(?:objects|refs|logs)(?:\/|$)/

/** True for a directory that git creates when it needs it, and removes when it is empty, such as `refs/heads/topic`. */
export function isGitDirectory(path: string): boolean {
  return OWN_DIRECTORY.test(parseGitPath(path)?.name ?? '')
}
