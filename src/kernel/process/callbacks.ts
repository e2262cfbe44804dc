import { formatFault } from '../event.ts'
import type { ExitStatus } from './exit-status.ts'
import type { ProcessTable } from './process-table.ts'

/** Notifications for a program that shows processes to people. */
export interface KernelCallbacks {
  onSpawn?(pid: number, intent: string, provider: string, model: string): void
  onStep?(pid: number, step: number, total: number): void
  onComplete?(pid: number, result: string, exit: ExitStatus): void
  onError?(pid: number, error: Error): void
}

/** Wraps callbacks so that their errors become log events and stop neither a process nor the kernel. */
export function createSafeCallbacks(
  callbacks: KernelCallbacks,
  table: ProcessTable,
): Required<KernelCallbacks> {
  const callSafely = (name: keyof KernelCallbacks, pid: number, call: () => unknown): void => {
    const logFault = (error: unknown) =>
      table.find(pid)?.emit({ kind: 'log', text: formatFault(name, error) })
    try {
      const result = call()
      if (result instanceof Promise) result.catch(logFault)
    } catch (error) {
      logFault(error)
    }
  }
  return {
    onSpawn: (pid, ...args) => callSafely('onSpawn', pid, () => callbacks.onSpawn?.(pid, ...args)),
    onStep: (pid, ...args) => callSafely('onStep', pid, () => callbacks.onStep?.(pid, ...args)),
    onComplete: (pid, ...args) => callSafely('onComplete', pid, () => callbacks.onComplete?.(pid, ...args)),
    onError: (pid, ...args) => callSafely('onError', pid, () => callbacks.onError?.(pid, ...args)),
  }
}
