/**
 * How a daemon is spoken to: where its socket is, what can be asked, and a client that asks it.
 * Apart from the daemon itself, since whoever only asks is to start fast.
 * Invariant: nothing here needs a kernel or a device to run; both are known by their types.
 */
export { DaemonClient } from './daemon-client.ts'
export { DaemonFiles } from './daemon-files.ts'
export { DaemonHandle } from './daemon-handle.ts'
export { LineReader } from './line-reader.ts'
export type { DaemonMethods, DaemonStatus, DaemonStreams, QuestionEvent } from './methods.ts'
export { errorReply, MAX_LINE_BYTES, type Reply, type Request, readRequest, refusal } from './protocol.ts'
export { socketOf } from './socket-place.ts'
export { StandingClient } from './standing-client.ts'
