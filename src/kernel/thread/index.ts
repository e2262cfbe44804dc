/**
 * Concurrency within a process: threads run beside it, coroutines give and take values by turns.
 * Both share the process's context and signal; neither outlives it.
 * Invariant: when a process is reaped, none of its threads and coroutines is still at work.
 */
export { type CoroutineManager, type CoroutineProgram, Coroutines, type YieldResult } from './coroutines.ts'
export { type Thread, type ThreadManager, type ThreadProgram, Threads } from './threads.ts'
