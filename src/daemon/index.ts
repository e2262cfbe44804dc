/**
 * The daemon of a home: a program that runs its processes, with a socket for clients of this user. Requests and
 * responses are lines of JSON. The kernel performs the requests; this folder transports them.
 * Invariant: nothing a client sends, omits or fails to read disturbs another client or a process.
 */
export { Daemon, type DaemonOptions, startDaemon } from './daemon.ts'
