import type { AskedQuestions } from '../../../devices/tty/index.ts'
import type { Signal, StepRecord } from '../../../kernel/index.ts'
import type { DirEntry } from '../../../vfs/index.ts'
import type {
  AgentSpawn,
  LogLine,
  Missed,
  ProcessStatus,
  SpawnedAgent,
  TraceLine,
} from '../../kernel/index.ts'

/** An agent or a skill, as a list shows it. */
interface Listed {
  readonly name: string
  readonly description: string
  readonly origin: string
  readonly problem?: string
}

/** How a daemon is. */
export interface DaemonStatus {
  readonly pid: number
  readonly version: string
  readonly home: string
  readonly started_at: string
  readonly processes: number
  readonly clients: number
  readonly cron_jobs: number
  /** It stops after so long with nothing to do; null if it stays. */
  readonly idle_ms: number | null
}

/** A step of a process, in short. */
type StepSummary = Pick<
  StepRecord,
  'step_number' | 'timestamp' | 'tokens_used' | 'action' | 'summary' | 'tool_path' | 'tool_error'
>

/** What happens to questions. */
export type QuestionEvent = { readonly asked: AskedQuestions } | { readonly settled: string }

type Pid = { readonly pid: number }
type Path = { readonly path: string }
type Nothing = Readonly<Record<never, never>>

/** What is asked once and answered once. */
export interface DaemonMethods {
  readonly spawn: { readonly params: AgentSpawn; readonly result: SpawnedAgent }
  readonly ps: { readonly params: { readonly all?: boolean }; readonly result: readonly ProcessStatus[] }
  readonly kill: { readonly params: Pid & { readonly signal?: Signal }; readonly result: null }
  /** Answered when it has ended. */
  readonly wait: { readonly params: Pid; readonly result: ProcessStatus }
  readonly list_steps: { readonly params: Pid; readonly result: readonly StepSummary[] }
  readonly get_step_detail: { readonly params: Pid & { readonly step: number }; readonly result: StepRecord }
  readonly questions: { readonly params: Nothing; readonly result: readonly AskedQuestions[] }
  readonly answer: {
    readonly params: { readonly id: string; readonly answers: readonly (string | readonly string[])[] }
    readonly result: null
  }
  readonly agents: { readonly params: Nothing; readonly result: readonly Listed[] }
  readonly skills: { readonly params: Nothing; readonly result: readonly Listed[] }
  /** Writes a request to a device and answers with what it says. */
  readonly call: { readonly params: Path & { readonly request: unknown }; readonly result: unknown }
  readonly ls: { readonly params: Path; readonly result: readonly DirEntry[] }
  readonly read: { readonly params: Path; readonly result: string }
  readonly status: { readonly params: Nothing; readonly result: DaemonStatus }
  /** The daemon ends with all its processes. */
  readonly stop: { readonly params: Nothing; readonly result: null }
}

/** What goes on until it ends or the client leaves. */
export interface DaemonStreams {
  readonly logs: { readonly params: Pid & { readonly follow?: boolean }; readonly event: LogLine | Missed }
  readonly strace: {
    readonly params: { readonly pid?: number | undefined; readonly follow?: boolean }
    readonly event: TraceLine | Missed
  }
  /** Shows the questions of processes; while somebody does, they may ask. */
  readonly attach: { readonly params: Nothing; readonly event: QuestionEvent }
}
