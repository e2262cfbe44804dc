import { join } from 'node:path'
import { isWithin } from '../../../vfs/index.ts'
import type { SessionBase } from '../command-session.ts'
import { findEntryStats } from '../entries/entry-stats.ts'
import { removeTree } from '../session-directory.ts'
import type { OverlayLayout } from './overlay-layout.ts'
import { openStagedLayout } from './overlay-session.ts'

/** Type of an entry of a view. */
export type ViewEntryType = 'file' | 'directory' | 'symlink' | 'other'

/**
 * A directory with staged changes, for a program that reads it longer than a command runs, such as a language server.
 * Each launch mounts it for its own processes, at the directory's own path. It does not follow later changes.
 */
export class OverlayView implements AsyncDisposable {
  readonly #layout: OverlayLayout
  /** Paths that staged changes removed from the directory. */
  readonly #removed: readonly string[]

  private constructor(layout: OverlayLayout, removed: readonly string[]) {
    this.#layout = layout
    this.#removed = removed
  }

  /** Throws ENOTSUP if this host has no overlays, EINVAL for a directory that cannot be a workspace. */
  static async open(base: SessionBase, sessions: string): Promise<OverlayView> {
    const layout = await openStagedLayout(base, { directory: sessions })
    const removed = base.staged.filter(({ kind }) => kind === 'gone').map(({ path }) => path)
    return new OverlayView(layout, removed)
  }

  /** Path at which programs see the view. */
  get path(): string {
    return this.#layout.lower
  }

  /** Directory of the view's own files, in which its mount lines run. */
  get directory(): string {
    return this.#layout.directory
  }

  get mountLines(): string[] {
    return this.#layout.createViewLines()
  }

  get placingLines(): string[] {
    return this.#layout.nestedMounts.createRemountLines()
  }

  /** Returns the type of an entry as programs see it; undefined if they see none. */
  findType(path: string): ViewEntryType | undefined {
    const staged = findEntryStats(join(this.#layout.upper, path))
    // The kernel marks a removed entry by a character device.
    if (staged !== undefined) return staged.isCharacterDevice() ? undefined : toType(staged)
    if (this.#removed.some((removed) => isWithin(path, removed))) return undefined
    const entry = findEntryStats(join(this.#layout.lower, path))
    return entry && toType(entry)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return removeTree(this.#layout.directory)
  }
}

function toType(stats: NonNullable<ReturnType<typeof findEntryStats>>): ViewEntryType {
  if (stats.isFile()) return 'file'
  if (stats.isDirectory()) return 'directory'
  return stats.isSymbolicLink() ? 'symlink' : 'other'
}
