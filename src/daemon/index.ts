/**
 * The daemon of a home: one program that runs its processes, and a socket by which clients of this user speak to it.
 * Requests and answers are lines of JSON; what a request does is the kernel's business, how it travels is here.
 * Invariant: nothing a client sends, leaves out or fails to read disturbs another client or a process.
 */
export { Daemon, type DaemonOptions, startDaemon } from './daemon.ts'
