/**
 * How a daemon is spoken to: where its socket is, what can be asked, and a client that asks it.
 * Apart from the daemon, so that a client starts fast.
 * Invariant: nothing here needs a kernel or a device to run; both are known by their types.
 */
export { DaemonClient } from './daemon-client.ts'
export { DaemonFiles } from './daemon-files.ts'
export { DaemonHandle } from './daemon-handle.ts'
export type { DaemonMethods, DaemonStatus, DaemonStreams, QuestionEvent } from './daemon-methods.ts'
export {
  createRequestError,
  type DaemonReply,
  type DaemonRequest,
  MAX_LINE_BYTES,
  parseRequest,
  toErrorJson,
} from './daemon-protocol.ts'
export { LineReader } from './line-reader.ts'
export { ReconnectingClient } from './reconnecting-client.ts'
export { getSocketPath } from './socket-path.ts'
