import type { ExitStatus, Kernel, KernelCallbacks } from '../kernel/index.ts'
import type { OriginTracker } from './origin-tracker.ts'
import type { ProcessNamespaces } from './process-namespaces.ts'
import type { ProcessRecords } from './process-records.ts'
import { readSettings } from './process-settings.ts'

/** Sources and targets of the recorder. */
interface RecorderParts {
  readonly records: ProcessRecords
  readonly namespaces: ProcessNamespaces
  readonly origins: Pick<OriginTracker, 'join'>
  kernel(): Kernel
}

/** Records the kernel's process events. */
export class ProcessRecorder implements KernelCallbacks {
  readonly #parts: RecorderParts

  constructor(parts: RecorderParts) {
    this.#parts = parts
  }

  onSpawn(pid: number, intent: string, provider: string, model: string): void {
    const { records, namespaces, origins, kernel } = this.#parts
    const process = kernel().table.get(pid)
    const { uuid, ppid, createdAt } = process
    const { agent = null, fork = null, vault = null, given = {} } = namespaces.find(pid) ?? {}
    const notYet = { ended_at: null, exit_code: null, reason: '', result: '', tokens_used: 0 }
    const started_at = createdAt.toISOString()
    const what = { pid, uuid, ppid, intent, agent, provider, model, fork, vault, started_at }
    records.add({ ...what, state: 'running', ...notYet, settings: readSettings(process, given) })
    const parent = records.find(ppid)
    if (parent !== undefined) origins.join(uuid, parent.uuid)
  }

  onStep(pid: number, step: number, total: number): void {
    this.#parts.records.setProgress(pid, { step, total })
  }

  onComplete(pid: number, result: string, { code: exit_code, reason }: ExitStatus): void {
    const process = this.#parts.kernel().table.find(pid)
    this.#parts.records.end(pid, { result, exit_code, reason, tokens_used: process?.tokensUsed ?? 0 })
  }
}
