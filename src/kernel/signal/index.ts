/**
 * Signals: what is sent to a process, and what it does about it.
 * A process blocks and handles all but SIGKILL; what is blocked waits until it is unblocked.
 * Invariant: what becomes of a signal is decided in one go, so that no change of mind comes in between.
 */
export { type Signal, type SignalHandler, signals } from './signal.ts'
export { type SignalManager, Signals } from './signals.ts'
