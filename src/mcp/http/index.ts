/**
 * Streamable HTTP: authorization, sessions, and replay of missed events. No tools, no files.
 * Invariant: a request is authorized before anything but its headers is read.
 */
export { type HttpOptions, type HttpServer, serveHttp } from './serve-http.ts'
