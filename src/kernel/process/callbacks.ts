import { formatFault } from '../event.ts'
import type { ExitStatus } from './exit-status.ts'
import type { ProcessTable } from './process-table.ts'

/** Told of what matters to whoever shows processes to people. */
export interface KernelCallbacks {
  onSpawn?(pid: number, intent: string, provider: string, model: string): void
  onStep?(pid: number, step: number, total: number): void
  onComplete?(pid: number, result: string, exit: ExitStatus): void
  onError?(pid: number, error: Error): void
}

/** The same callbacks, of which none stops a process or the kernel: what one throws is told as a log event. */
export function createSafeCallbacks(
  callbacks: KernelCallbacks,
  table: ProcessTable,
): Required<KernelCallbacks> {
  const callSafely = (name: keyof KernelCallbacks, pid: number, call: () => unknown): void => {
    const tell = (error: unknown) => table.find(pid)?.emit({ kind: 'log', text: formatFault(name, error) })
    try {
      const result = call()
      if (result instanceof Promise) result.catch(tell)
    } catch (error) {
      tell(error)
    }
  }
  return {
    onSpawn: (pid, ...told) => callSafely('onSpawn', pid, () => callbacks.onSpawn?.(pid, ...told)),
    onStep: (pid, ...told) => callSafely('onStep', pid, () => callbacks.onStep?.(pid, ...told)),
    onComplete: (pid, ...told) => callSafely('onComplete', pid, () => callbacks.onComplete?.(pid, ...told)),
    onError: (pid, ...told) => callSafely('onError', pid, () => callbacks.onError?.(pid, ...told)),
  }
}
