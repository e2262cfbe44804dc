/**
 * The HTTP API of `coppice ui` as types: methods with their requests and responses, and the events of the stream.
 * The server implements them and the page calls them; both import this folder.
 * Invariant: it imports nothing and needs no Node, so that it runs in a browser.
 */
export type {
  ApprovalDecision,
  ApprovalScope,
  WebApproval,
  WebCommand,
  WebConnection,
  WebGrant,
  WebTrial,
} from './approval-types.ts'
export type {
  DiffLine,
  FileSelection,
  MergeParams,
  MergeResolution,
  MergeSelection,
  WebChange,
  WebConflict,
  WebConflictSides,
  WebFileDiff,
  WebHunk,
  WebMergeResult,
  WebOverlap,
} from './compare-types.ts'
export type {
  JournalBucket,
  JournalBuckets,
  WebAuthor,
  WebBlameLine,
  WebCheckpoint,
  WebContent,
  WebEntry,
  WebFileVersion,
  WebImage,
  WebJournalRow,
  WebMatch,
  WebMatches,
} from './file-types.ts'
export type {
  WebForkPort,
  WebPendingMerge,
  WebProcess,
  WebQuestion,
  WebStatus,
  WebTree,
  WebWaiting,
} from './home-types.ts'
export { MAX_PAGE_ITEMS, type Page, type PageParams } from './paging.ts'
export type { WebStep, WebStepFiles, WebToolCall } from './process-types.ts'
export type { UndoTimelineParams, WebTimelineItem, WebUndoReport } from './timeline-types.ts'
export { formatTreeRef, parseTreeRef, type TreeMoment, type TreeName, type TreeRef } from './tree-ref.ts'
export type { WebErrorBody } from './web-error.ts'
export { EVENTS_PATH, type NumberedWebEvent, type WebEvent } from './web-events.ts'
export {
  API_PREFIX,
  PAGE_PATHS,
  SESSION_PATH,
  type WebMethodName,
  type WebMethods,
  type WebSession,
  webMethods,
} from './web-methods.ts'
export type { WebText } from './web-text.ts'
