import type { WebAuthor } from './file-types.ts'
import type { Page } from './paging.ts'
import type { TreeName } from './tree-ref.ts'
import type { WebText } from './web-text.ts'

/** A path that differs between two trees. */
export interface WebChange {
  readonly path: string
  readonly kind: 'added' | 'modified' | 'deleted' | 'renamed'
  readonly type: 'file' | 'directory' | 'symlink' | 'other'
  /** The earlier path of a renamed file. */
  readonly from?: string
  /** `0644 -> 0600` if permissions differ; otherwise empty. */
  readonly modes: string
  readonly oldSize: number
  readonly newSize: number
  /** Changed lines; null if they are not counted (`lines=true` counts them), and for binary files. */
  readonly lines: { readonly added: number; readonly removed: number } | null
  /** Null if the lines are not counted. */
  readonly isBinary: boolean | null
}

/** A line of a hunk. */
export interface DiffLine {
  readonly kind: 'context' | 'removed' | 'added'
  readonly text: string
  /** Line numbers from 1; null on the side that does not have the line. */
  readonly old: number | null
  readonly new: number | null
  /** True for a last line without a newline. */
  readonly isOpen?: true
  /** True if only the beginning of a very long line is here. */
  readonly isCut?: true
}

/** Neighbouring changed lines of a file, with context. */
export interface WebHunk {
  /** Number from 0, by which a selection names it. */
  readonly index: number
  readonly oldStart: number
  readonly oldCount: number
  readonly newStart: number
  readonly newCount: number
  readonly lines: readonly DiffLine[]
  /** True if lines are left out because the hunk is too long. */
  readonly isCut: boolean
}

/** The lines that differ in one file. */
export interface WebFileDiff {
  readonly change: WebChange
  /** Also true for a file that is too large. */
  readonly isBinary: boolean
  /** True for a file that is too large for a diff. */
  readonly isTooLarge: boolean
  /** Identifies both versions: a selection of hunks holds only for the same digest. */
  readonly digest: string
  readonly hunks: readonly WebHunk[]
  /** Number of all hunks. */
  readonly total: number
  /** `cursor` of the next hunks; null at the end. */
  readonly next: string | null
}

/** A file to merge: all of it, or some of its hunks. */
export interface FileSelection {
  readonly path: string
  /** Indexes of hunks of the diff from `source^` to `source`; the whole file when absent. */
  readonly hunks?: readonly number[]
  /** `digest` of the diff that the hunks are from. Needed with `hunks`. */
  readonly digest?: string
}

/** Changes to merge. `all` takes everything, also what changes meanwhile. */
export type MergeSelection = 'all' | readonly FileSelection[]

/** Resolution of the conflict at a path: a side, the lines of both, or an edited text for the `digest` of its sides. */
export type MergeResolution =
  | { readonly path: string; readonly take: 'ours' | 'theirs' | 'union' }
  | { readonly path: string; readonly text: string; readonly digest: string }

/**
 * A merge: `source` is a fork of a vault or directory. `into` is a vault, another fork of the same directory, or the
 * directory; its own state is `ours`, and the source's `theirs`. Forks of a directory are merged into each other as a
 * whole (`all`).
 */
export interface MergeParams {
  readonly source: TreeName
  readonly into: TreeName
  readonly selection: MergeSelection
  readonly resolutions?: readonly MergeResolution[]
}

/** A path that both sides changed. */
export interface WebConflict {
  readonly path: string
  readonly reason: string
  /** True if a side can be chosen. Otherwise, leave the path out of the selection. */
  readonly canChoose: boolean
  /** True if `getConflict` has texts to compare and edit. */
  readonly hasText: boolean
  readonly isResolved: boolean
}

/** A merge that was performed, or the conflicts for which it needs a resolution: then nothing is written. */
export type WebMergeResult =
  | { readonly isMerged: true; readonly changes: number }
  | { readonly isMerged: false; readonly conflicts: readonly WebConflict[] }

/** The texts of a conflict, and who wrote each side. */
export interface WebConflictSides {
  readonly path: string
  readonly base: WebText
  readonly ours: WebText
  readonly theirs: WebText
  /** The merged text, with both versions between markers where they conflict. */
  readonly merged: WebText
  /** Identifies the sides: an edited resolution names it. */
  readonly digest: string
  /** True if secrets were taken out of the texts. Such a conflict is resolved by a side, not by an edited text. */
  readonly isRedacted: boolean
  readonly oursBy: readonly WebAuthor[]
  readonly theirsBy: readonly WebAuthor[]
}

/** Paths that more than one fork of a tree changes. */
export type WebOverlap = Page<{
  readonly path: string
  readonly trees: readonly TreeName[]
}>
