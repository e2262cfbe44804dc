import type { FileOwner } from '../../machine/index.ts'

/**
 * One step of bringing changes into a directory. `index` names what was there (`old/<index>` of the stage) and what
 * comes (`new/<index>`).
 */
export type ApplyStep =
  | { readonly op: 'take' | 'replace' | 'place'; readonly path: string; readonly index: number }
  | { readonly op: 'mkdir'; readonly path: string; readonly owner: FileOwner }
  | { readonly op: 'rmdir'; readonly path: string; readonly mode: number; readonly owner: FileOwner }
  | {
      readonly op: 'chmod'
      readonly path: string
      /** Type of the entry with these permissions: until the step before, the path may be something else. */
      readonly type: 'directory' | 'file'
      readonly mode: number
      readonly old: number
    }
