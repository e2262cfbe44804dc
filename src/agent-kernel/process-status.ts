import type { Kernel } from '../kernel/index.ts'
import type { ProcessRecord, ProcessRecords } from './process-records.ts'

/** Current state of a process. */
export interface ProcessStatus extends Omit<ProcessRecord, 'state' | 'settings'> {
  readonly state: ProcessRecord['state'] | 'paused' | 'stalled'
  readonly elapsed_ms: number
  readonly step: number
  readonly max_steps: number
  /** Groups it is a member of; none once it has ended. */
  readonly groups: readonly string[]
}

/** Returns the state of a process: from the kernel while it runs, from its record afterwards. */
export function getProcessStatus(
  { settings: _, ...record }: ProcessRecord,
  { kernel, records }: { readonly kernel: Kernel; readonly records: ProcessRecords },
): ProcessStatus {
  const { step, total } = records.getProgress(record.pid)
  const running = record.state === 'running' ? kernel.table.find(record.pid) : undefined
  if (running === undefined)
    return { ...record, elapsed_ms: getElapsedMs(record), step, max_steps: total, groups: [] }
  return {
    ...record,
    state: running.isPaused ? 'paused' : running.isStalled ? 'stalled' : 'running',
    reason: running.pauseReason,
    tokens_used: running.tokensUsed,
    elapsed_ms: running.elapsed,
    step,
    max_steps: total,
    groups: [...running.groups].sort(),
  }
}

function getElapsedMs({ started_at, ended_at }: ProcessRecord): number {
  return ended_at === null ? 0 : Date.parse(ended_at) - Date.parse(started_at)
}
