/**
 * The events of agents: their forms, the sessions that they belong to, and the paths that changed between them. It
 * reads stats and a few small files, and loads little: agents wait for it.
 * Invariant: the content of recorded files is neither read nor stored here.
 */
export { type AgentEvent, type AgentName, agentNames, parseAgentEvent } from './agent-event.ts'
export { findAgentProcess } from './agent-process.ts'
export type { ChangeWindow, TimelineCall } from './agent-sessions.ts'
export { type RecordedDirectory, receiveWithoutChange } from './event-receiver.ts'
export { type DirectoryScan, type ScanRules, scanDirectory } from './scan-directory.ts'
export { TimelineFiles, type TimelineNote } from './timeline-files.ts'
export type { ToolReach } from './tool-reach.ts'
export { toSettingsKey, UndoRules, type UndoSettings } from './undo-rules.ts'
export { getDirectoryIdentity, type WatchAnswer, type WatchQuestion } from './watch-question.ts'
