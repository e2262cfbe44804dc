import { faultText } from '../event.ts'
import type { ExitStatus } from './exit.ts'
import type { ProcessTable } from './process-table.ts'

/** Told of what matters to whoever shows processes to people. */
export interface KernelCallbacks {
  onSpawn?(pid: number, intent: string, provider: string, model: string): void
  onStep?(pid: number, step: number, total: number): void
  onComplete?(pid: number, result: string, exit: ExitStatus): void
  onError?(pid: number, error: Error): void
}

/** The same callbacks, of which none stops a process or the kernel: what one throws is told as a log event. */
export function tolerated(callbacks: KernelCallbacks, table: ProcessTable): Required<KernelCallbacks> {
  const tried = (name: keyof KernelCallbacks, pid: number, call: () => unknown): void => {
    const tell = (error: unknown) => table.find(pid)?.tell({ kind: 'log', text: faultText(name, error) })
    try {
      const result = call()
      if (result instanceof Promise) result.catch(tell)
    } catch (error) {
      tell(error)
    }
  }
  return {
    onSpawn: (pid, ...told) => tried('onSpawn', pid, () => callbacks.onSpawn?.(pid, ...told)),
    onStep: (pid, ...told) => tried('onStep', pid, () => callbacks.onStep?.(pid, ...told)),
    onComplete: (pid, ...told) => tried('onComplete', pid, () => callbacks.onComplete?.(pid, ...told)),
    onError: (pid, ...told) => tried('onError', pid, () => callbacks.onError?.(pid, ...told)),
  }
}
