import type { FileOwner } from '../../machine/index.ts'

/**
 * One step of an apply. `take` moves an old entry into the stage, `place` puts a new one where there is none, and
 * `replace` does both. `index` names the old entry (`old/<index>` of the stage) and the new one (`new/<index>`).
 */
export type ApplyStep =
  | { readonly op: 'take' | 'replace' | 'place'; readonly path: string; readonly index: number }
  | { readonly op: 'mkdir'; readonly path: string; readonly owner: FileOwner }
  | { readonly op: 'rmdir'; readonly path: string; readonly mode: number; readonly owner: FileOwner }
  | {
      readonly op: 'chmod'
      readonly path: string
      /** Type of the entry that gets the mode. Before this step, the path may have another type. */
      readonly type: 'directory' | 'file'
      readonly mode: number
      readonly old: number
      /** Opens a directory for its owner, or closes it again. Only a directory with the old mode is changed. */
      readonly isTemporary?: true
    }
