import type { LinkEntry } from './link-entry.ts'

/** A linked directory as it is, or as it will be, or as a command saw it. */
export interface DirectoryTree {
  /** Its real path. */
  readonly path: string
  /** Returns the entry at a path; undefined if it is missing or behind a link. */
  findEntry(path: string): LinkEntry | undefined
  /** True if a symbolic link is at a path. */
  isLink(path: string): boolean
  /** Lists the names in a directory; none if the path is not a directory. */
  listNames(path: string): string[]
}
