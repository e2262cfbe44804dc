/**
 * Concurrency within a process: threads run beside it, coroutines exchange values with it.
 * Both share the process's context and signal; neither outlives it.
 * Invariant: after a process is reaped, none of its threads and coroutines is running.
 */
export { type CoroutineManager, type CoroutineProgram, Coroutines, type YieldResult } from './coroutines.ts'
export { type Thread, type ThreadManager, type ThreadProgram, Threads } from './threads.ts'
