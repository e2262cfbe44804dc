/**
 * The HTTP server of the page: admission, limits, files of the page, methods and the event stream. It knows no vault and
 * no process; what it serves is given to it.
 * Invariant: nothing but the files of the page leaves without a token, and no request names a file of this machine.
 */
export { EventLog } from './event-log.ts'
export { OneTimeCodes } from './one-time-codes.ts'
export { readPageFiles } from './page-files.ts'
export { serveWeb, type WebServer } from './serve-web.ts'
export type { HandledMethod } from './web-router.ts'
