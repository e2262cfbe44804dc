/** A prompt, a failed hook, or changes of one author, of an agent that works outside of Coppice. */
export type WebTimelineItem =
  | {
      readonly kind: 'prompt'
      readonly time: string
      readonly prompt: number
      readonly agent: string
      readonly text: string
    }
  | { readonly kind: 'failure'; readonly time: string; readonly agent: string; readonly message: string }
  | {
      readonly kind: 'record'
      readonly time: string
      readonly number: number
      readonly by: 'agent' | 'unclear' | 'person' | 'undo' | 'redo'
      /** Its prompt and call, by which an undo names it; null for anybody but an agent. */
      readonly call: {
        readonly prompt: number
        readonly number: number
        readonly tool: string
        readonly summary: string
      } | null
      /** Changed paths; the first hundred. */
      readonly changes: readonly { readonly path: string; readonly kind: 'added' | 'modified' | 'deleted' }[]
      readonly total: number
      readonly skipped: readonly string[]
      readonly isUndone: boolean
    }

/** Selects what an undo undoes: the last prompts, one prompt, or one call of it. */
export interface UndoTimelineParams {
  readonly directory: string
  readonly selection: { readonly last: number } | { readonly prompt: number; readonly call?: number }
  /** Paths such as `/src`; everything when absent. */
  readonly paths?: readonly string[]
  /** Changes nothing, and returns what would change. */
  readonly isTrial?: boolean
}

/** Changes that an undo or redo wrote, or would write. */
export interface WebUndoReport {
  readonly changes: readonly { readonly path: string; readonly kind: 'added' | 'modified' | 'deleted' }[]
  readonly total: number
  readonly prompts: readonly number[]
  readonly skipped: readonly string[]
}
