/**
 * Sessions: commands change a directory of this machine, and the directory stays as it is. A session is an overlay of the
 * kernel, a private copy or a vault behind FUSE; the same commands lead to the same changes.
 * Invariant: a session writes nothing outside its own directory or vault. Nothing of it outlives its process, except the
 * files of one that was killed, which hold changes to store.
 */

export type {
  CommandSession,
  LiveBase,
  RunningSession,
  RunOutcome,
  RunSpec,
  SessionBase,
  SessionChange,
  SessionFiles,
  StagedChange,
} from './command-session.ts'
export { stageInto } from './entries/staging.ts'
export { type HostFinding, inspectHost } from './inspect-host.ts'
export { isContinuedByOthers, joinSession } from './joined-session.ts'
export { readLeftSession, waitForSessionEnd } from './left-session.ts'
export { openSession, type SessionKind } from './open-session.ts'
export { detachOverlay, MountedOverlay, readLeftOverlay } from './overlay/mounted-overlay.ts'
export { OverlayView } from './overlay/overlay-view.ts'
export { hasCarriedList } from './run/carried-list.ts'
export { recoverCarriedFiles } from './run/recover-carried-files.ts'
export { removeTree, sweepSessions } from './session-directory.ts'
export type { CommandTerminal } from './terminal/command-terminal.ts'
