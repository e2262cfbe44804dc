/**
 * Signals to processes: delivery, handlers and blocking.
 * A process can block and handle all signals but SIGKILL. A blocked signal is pending until it is unblocked.
 * Invariant: the disposition of a signal is decided synchronously, so no change can interleave.
 */
export { type Signal, type SignalHandler, signals } from './signal.ts'
export { type SignalManager, Signals } from './signals.ts'
