import type { WebJournalRow } from './file-types.ts'
import type { WebProcess, WebQuestion } from './home-types.ts'
import type { TreeName } from './tree-ref.ts'

/**
 * Path of the event stream. It is read with `fetch` and the bearer token. `after` or the header Last-Event-ID names the
 * last event that was seen; each event has its position as `id:` and its JSON as `data:`.
 */
export const EVENTS_PATH = '/api/events'

/** An event of the stream. Each says enough to update a screen, or to read it again. */
export type WebEvent =
  /** A process started, changed or ended. */
  | { readonly type: 'process'; readonly process: WebProcess }
  /** A step of a process is recorded: read it with `listSteps`. */
  | { readonly type: 'step'; readonly pid: number; readonly step: number }
  /** A line of the log of a process. */
  | { readonly type: 'log'; readonly pid: number; readonly text: string }
  | { readonly type: 'asked'; readonly question: WebQuestion }
  | { readonly type: 'settled'; readonly id: string }
  /** New rows of the journal of a tree; the last ones, if there are many. */
  | {
      readonly type: 'journal'
      readonly tree: TreeName
      /** Last row before, and last row now. */
      readonly since: number
      readonly seq: number
      readonly rows: readonly WebJournalRow[]
    }
  /** Trees appeared or vanished, or commands in them started or ended: read `listTrees` again. */
  | { readonly type: 'trees' }
  /** Approvals, grants or pending merges changed: read `listWaiting` again. */
  | { readonly type: 'waiting' }
  /** Events were missed, or the position is of another server: read everything again. The stream goes on from here. */
  | { readonly type: 'reset' }

/** An event with its position. */
export interface NumberedWebEvent {
  readonly id: string
  readonly event: WebEvent
}
