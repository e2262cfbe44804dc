import type { ApprovalDecision, WebApproval, WebCommand, WebGrant, WebTrial } from './approval-types.ts'
import type {
  MergeParams,
  WebChange,
  WebConflictSides,
  WebFileDiff,
  WebMergeResult,
  WebOverlap,
} from './compare-types.ts'
import type {
  JournalBuckets,
  WebBlameLine,
  WebCheckpoint,
  WebContent,
  WebEntry,
  WebFileVersion,
  WebImage,
  WebJournalRow,
  WebMatches,
} from './file-types.ts'
import type { WebProcess, WebStatus, WebTree, WebWaiting } from './home-types.ts'
import type { Page, PageParams } from './paging.ts'
import type { WebStep, WebStepFiles } from './process-types.ts'
import type { UndoTimelineParams, WebTimelineItem, WebUndoReport } from './timeline-types.ts'
import type { TreeName } from './tree-ref.ts'
import type { WebText } from './web-text.ts'

/** Every method is at this prefix and its name: `GET /api/listTrees?limit=50`. */
export const API_PREFIX = '/api/'
/** `POST` with `{"code"}` trades the one-time code of the address for a token. The request itself needs no token. */
export const SESSION_PATH = '/api/session'

/** Paths that serve the page. Its state is in the path and the query; the fragment has the one-time code. */
export const PAGE_PATHS: readonly string[] = [
  '/',
  '/process',
  '/files',
  '/compare',
  '/approvals',
  '/timeline',
]

/** Response to the one-time code. The page keeps the token in its tab, and sends it as `Authorization: Bearer`. */
export interface WebSession {
  readonly token: string
}

type Empty = Readonly<Record<never, never>>
interface Pid {
  readonly pid: number
}
interface TreeParams {
  readonly tree: TreeName
}
interface FileParams extends TreeParams {
  readonly path: string
}
interface PairParams {
  readonly from: TreeName
  readonly to: TreeName
}

/**
 * All methods. A GET has its parameters in the query, as text; a POST in its body, as JSON. Responses are JSON, or a
 * `WebErrorBody`.
 */
export interface WebMethods {
  // Home
  readonly getStatus: { readonly params: Empty; readonly result: WebStatus }
  /** Processes, the newest first; with `all` also ended ones. */
  readonly listProcesses: {
    readonly params: PageParams & { readonly all?: boolean }
    readonly result: Page<WebProcess>
  }
  readonly listTrees: { readonly params: PageParams; readonly result: Page<WebTree> }
  readonly listWaiting: { readonly params: Empty; readonly result: WebWaiting }

  // Process
  readonly getProcess: { readonly params: Pid; readonly result: WebProcess }
  /** Steps, the oldest first. A cursor is the number of a step: pass that of the last one to read only newer steps. */
  readonly listSteps: { readonly params: Pid & PageParams; readonly result: Page<WebStep> }
  /** The whole record of a step as JSON text, in parts of 256 KiB. */
  readonly readStep: {
    readonly params: Pid & { readonly step: number; readonly offset?: number }
    readonly result: WebText & { readonly next: number | null }
  }
  readonly listStepFiles: {
    readonly params: Pid & PageParams & { readonly step: number }
    readonly result: WebStepFiles
  }
  readonly pauseProcess: { readonly params: Pid; readonly result: WebProcess }
  /** Continues a paused process, or starts a new one where another ended. */
  readonly resumeProcess: { readonly params: Pid; readonly result: WebProcess }
  readonly killProcess: {
    readonly params: Pid & { readonly isForced?: boolean }
    readonly result: WebProcess
  }
  readonly answerQuestion: {
    readonly params: { readonly id: string; readonly answers: readonly (string | readonly string[])[] }
    readonly result: null
  }
  /** Starts a process from a step of another, with its conversation and files of that moment. */
  readonly forkProcess: {
    readonly params: Pid & { readonly step: number; readonly intent?: string }
    readonly result: WebProcess
  }

  // Files
  readonly listFiles: { readonly params: FileParams & PageParams; readonly result: Page<WebEntry> }
  /** A part of a file, at most 256 KiB. */
  readonly readFile: {
    readonly params: FileParams & { readonly offset?: number }
    readonly result: WebContent
  }
  /** An image of at most 8 MiB; null for any other file. */
  readonly readImage: { readonly params: FileParams; readonly result: WebImage | null }
  /** Versions of a file, the newest first. */
  readonly listVersions: { readonly params: FileParams & PageParams; readonly result: Page<WebFileVersion> }
  readonly listBlame: { readonly params: FileParams & PageParams; readonly result: Page<WebBlameLine> }
  /** Lines that contain a text, in the order of their paths. */
  readonly searchFiles: {
    readonly params: FileParams & {
      readonly query: string
      readonly ignoreCase?: boolean
      readonly limit?: number
    }
    readonly result: WebMatches
  }
  /** Rows of the journal, the newest first. */
  readonly listJournal: {
    readonly params: TreeParams & PageParams & { readonly path?: string }
    readonly result: Page<WebJournalRow>
  }
  /** The journal from row `from` to row `to` in at most `count` (200) buckets. */
  readonly getJournalBuckets: {
    readonly params: TreeParams & { readonly from?: number; readonly to?: number; readonly count?: number }
    readonly result: JournalBuckets
  }
  readonly listCheckpoints: { readonly params: TreeParams & PageParams; readonly result: Page<WebCheckpoint> }
  readonly createCheckpoint: {
    readonly params: TreeParams & { readonly name?: string; readonly description?: string }
    readonly result: WebCheckpoint
  }
  /**
   * Restores a whole vault or fork; `tree` names the moment: a checkpoint, or any moment of a vault. Preview it with
   * `listChanges`.
   */
  readonly restoreTree: { readonly params: TreeParams; readonly result: { readonly seq: number } }
  /** Restores one file of a vault or fork to a version of `listVersions`. */
  readonly revertFile: {
    readonly params: FileParams & { readonly version: string }
    readonly result: { readonly seq: number }
  }

  // Compare
  /** Paths that differ, by path. `lines` counts changed lines: it takes longer, since it reads every file of the result. */
  readonly listChanges: {
    readonly params: PairParams & PageParams & { readonly lines?: boolean }
    readonly result: Page<WebChange>
  }
  /** Hunks of one file; `cursor` goes on in a long diff. */
  readonly getFileDiff: {
    readonly params: PairParams & { readonly path: string; readonly cursor?: string }
    readonly result: WebFileDiff
  }
  /** Merges a fork, or applies it to its directory: all that is selected, or nothing. */
  readonly merge: { readonly params: MergeParams; readonly result: WebMergeResult }
  /** The texts of one conflict that `merge` returned. */
  readonly getConflict: {
    readonly params: MergeParams & { readonly path: string }
    readonly result: WebConflictSides
  }
  /** Undoes the last merge into a vault or fork, or the last apply of a fork (`tree` names that fork, `isApply`). */
  readonly undoMerge: {
    readonly params: TreeParams & { readonly isApply?: boolean }
    readonly result: { readonly changes: number }
  }
  /** Deletes a fork and its changes. */
  readonly dropFork: { readonly params: TreeParams; readonly result: null }
  /** Paths that several forks of a vault or directory change. */
  readonly listOverlap: { readonly params: TreeParams & PageParams; readonly result: WebOverlap }

  // Approvals
  /** Requests, the newest first. */
  readonly listApprovals: { readonly params: PageParams; readonly result: Page<WebApproval> }
  /** Runs the command in a throw-away fork without network, and keeps its changes for a comparison. */
  readonly tryApproval: { readonly params: { readonly id: string }; readonly result: WebTrial }
  readonly decideApproval: { readonly params: ApprovalDecision; readonly result: null }
  readonly listGrants: { readonly params: PageParams; readonly result: Page<WebGrant> }
  readonly revokeGrant: { readonly params: { readonly id: string }; readonly result: null }
  /** Executed and refused commands with their connections, the newest first. */
  readonly listCommands: { readonly params: PageParams; readonly result: Page<WebCommand> }

  // Timeline of a directory with hooks
  /** Items, the newest first. */
  readonly listTimeline: {
    readonly params: PageParams & { readonly directory: string }
    readonly result: Page<WebTimelineItem>
  }
  readonly undoTimeline: { readonly params: UndoTimelineParams; readonly result: WebUndoReport }
  readonly redoTimeline: {
    readonly params: { readonly directory: string; readonly isTrial?: boolean }
    readonly result: WebUndoReport
  }
}

export type WebMethodName = keyof WebMethods

/** HTTP method of each method. GET changes nothing. */
export const webMethods: Readonly<Record<WebMethodName, 'GET' | 'POST'>> = {
  getStatus: 'GET',
  listProcesses: 'GET',
  listTrees: 'GET',
  listWaiting: 'GET',
  getProcess: 'GET',
  listSteps: 'GET',
  readStep: 'GET',
  listStepFiles: 'GET',
  pauseProcess: 'POST',
  resumeProcess: 'POST',
  killProcess: 'POST',
  answerQuestion: 'POST',
  forkProcess: 'POST',
  listFiles: 'GET',
  readFile: 'GET',
  readImage: 'GET',
  listVersions: 'GET',
  listBlame: 'GET',
  searchFiles: 'GET',
  listJournal: 'GET',
  getJournalBuckets: 'GET',
  listCheckpoints: 'GET',
  createCheckpoint: 'POST',
  restoreTree: 'POST',
  revertFile: 'POST',
  listChanges: 'GET',
  getFileDiff: 'GET',
  merge: 'POST',
  // It changes nothing, but its parameters are nested.
  getConflict: 'POST',
  undoMerge: 'POST',
  dropFork: 'POST',
  listOverlap: 'GET',
  listApprovals: 'GET',
  tryApproval: 'POST',
  decideApproval: 'POST',
  listGrants: 'GET',
  revokeGrant: 'POST',
  listCommands: 'GET',
  listTimeline: 'GET',
  undoTimeline: 'POST',
  redoTimeline: 'POST',
}
