/**
 * The timeline of a directory: what agents outside of Coppice and people did to it, recorded between the events of the
 * agents' hooks, and undo of it.
 * Invariant: an undo writes only recorded paths, and loses nothing that a person changed.
 */
export { parseTimelineId, type RecordHistory } from './record-history.ts'
export { Timeline, type UndoReport, type UndoSelection } from './timeline.ts'
export type { TimelineRecord } from './timeline-record.ts'
