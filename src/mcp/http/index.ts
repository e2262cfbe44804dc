/**
 * Streamable HTTP: who may come in, which session a request belongs to, what a client missed. No tools, no files.
 * Invariant: a request is admitted before anything of it but its headers is read.
 */
export { type HttpOptions, type HttpServer, serveHttp } from './serve-http.ts'
