/**
 * The client of the daemon: the path of its socket, the protocol, and the connection. It is apart from the daemon, so
 * that a client starts fast.
 * Invariant: nothing here loads a kernel or a device; both appear as types only.
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
export { getSocketPath, getUiMarkerPath } from './socket-path.ts'
