import type { ExitStatus } from './exit.ts'

/** Told of what matters to whoever shows processes to people. */
export interface KernelCallbacks {
  onSpawn?(pid: number, intent: string, provider: string, model: string): void
  onStep?(pid: number, step: number, total: number): void
  onComplete?(pid: number, result: string, exit: ExitStatus): void
  onError?(pid: number, error: Error): void
}
