import type {
  AgentSpawn,
  AgentSupervision,
  CheckResult,
  LogLine,
  McpServerEntry,
  McpServerName,
  McpServerReview,
  MissedEvents,
  ProcessStatus,
  SpawnedAgent,
  TraceLine,
} from '../../agent-kernel/index.ts'
import type { AskedQuestions } from '../../devices/tty/index.ts'
import type { Signal, StepRecord } from '../../kernel/index.ts'
import type { DirEntry, FileType } from '../../vfs/index.ts'

/** Status of a daemon. */
export interface DaemonStatus {
  readonly pid: number
  readonly version: string
  /** Mark of the program's build; absent in an older daemon. */
  readonly build?: string | undefined
  readonly home: string
  readonly started_at: string
  readonly processes: number
  readonly clients: number
  readonly cron_jobs: number
  /** Idle time after which it stops; null if it never does. */
  readonly idle_ms: number | null
}

/** Summary of a step of a process. */
type StepSummary = Pick<
  StepRecord,
  | 'step_number'
  | 'timestamp'
  | 'provider'
  | 'model'
  | 'tokens_used'
  | 'action'
  | 'summary'
  | 'tool_path'
  | 'tool_error'
>

/** Event of a question. */
export type QuestionEvent = { readonly asked: AskedQuestions } | { readonly settled: string }

/** Attributes of a path in the protocol. */
interface StatJson {
  readonly type: FileType
  readonly size: number
  readonly mtime: string
  readonly mode: number | null
}

type Handle = { readonly handle: number }
type Pid = { readonly pid: number }
type Path = { readonly path: string }
type NoParams = Readonly<Record<never, never>>

/** Methods with one request and one response. */
export interface DaemonMethods {
  readonly spawn: { readonly params: AgentSpawn; readonly result: SpawnedAgent }
  /** Starts a process that keeps others running. */
  readonly supervise: { readonly params: AgentSupervision; readonly result: SpawnedAgent }
  readonly ps: { readonly params: { readonly all?: boolean }; readonly result: readonly ProcessStatus[] }
  readonly kill: { readonly params: Pid & { readonly signal?: Signal }; readonly result: null }
  /** Signals every process of a group, and returns their numbers. */
  readonly kill_group: {
    readonly params: { readonly group: string; readonly signal?: Signal }
    readonly result: readonly number[]
  }
  /** Runs a command on a copy of the files of an ended process. */
  readonly check: { readonly params: Pid & { readonly command: string }; readonly result: CheckResult }
  /** Resumes a paused process, or starts one that goes on where it ended. */
  readonly resume: { readonly params: Pid; readonly result: SpawnedAgent }
  /** Resolves when the process has ended. */
  readonly wait: { readonly params: Pid; readonly result: ProcessStatus }
  readonly list_steps: { readonly params: Pid; readonly result: readonly StepSummary[] }
  readonly get_step_detail: { readonly params: Pid & { readonly step: number }; readonly result: StepRecord }
  readonly questions: { readonly params: NoParams; readonly result: readonly AskedQuestions[] }
  readonly answer: {
    readonly params: { readonly id: string; readonly answers: readonly (string | readonly string[])[] }
    readonly result: null
  }
  /** Lists the MCP servers of all agents without starting them. */
  readonly mcp_servers: { readonly params: NoParams; readonly result: readonly McpServerEntry[] }
  /** Starts a server and returns its tool descriptions for review. */
  readonly mcp_inspect: { readonly params: McpServerName; readonly result: McpServerReview }
  /** Approves reviewed tool descriptions by their hash. */
  readonly mcp_approve: { readonly params: McpServerName & { readonly hash: string }; readonly result: null }
  /** Writes a request to a device and returns its response. */
  readonly call: { readonly params: Path & { readonly request: unknown }; readonly result: unknown }
  readonly ls: { readonly params: Path; readonly result: readonly DirEntry[] }
  readonly read: { readonly params: Path; readonly result: string }
  readonly stat: { readonly params: Path; readonly result: StatJson }
  /** Opens a device. Its number belongs to this client, and it is closed when the client disconnects. */
  readonly open: { readonly params: Path & { readonly write?: boolean }; readonly result: number }
  /** Returns the next bytes as base64; empty at the end. */
  readonly read_handle: { readonly params: Handle & { readonly length: number }; readonly result: string }
  /** Resolves when the device has accepted the bytes; for a request, when its response is ready. */
  readonly write_handle: { readonly params: Handle & { readonly base64: string }; readonly result: null }
  readonly close_handle: { readonly params: Handle; readonly result: null }
  /** Serves the page on the loopback, if it is not served yet, and returns an address that opens one session. */
  readonly ui_open: {
    readonly params: { readonly port?: number | undefined; readonly path?: string | undefined }
    readonly result: { readonly origin: string; readonly link: string }
  }
  /** Finds a fork for an address of the page: one of a directory, or of a vault. ENOENT. */
  readonly ui_find: {
    readonly params: { readonly fork: string }
    readonly result: { readonly isLinked: boolean; readonly from: string | null }
  }
  /** Returns an address that opens one session where the page is served already; null elsewhere. */
  readonly ui_link: {
    readonly params: { readonly path?: string | undefined }
    readonly result: { readonly link: string | null }
  }
  readonly status: { readonly params: NoParams; readonly result: DaemonStatus }
  /** Stops the daemon and all its processes. */
  readonly stop: { readonly params: NoParams; readonly result: null }
}

/** Streams, which run until they end or the client leaves. */
export interface DaemonStreams {
  readonly logs: {
    readonly params: Pid & { readonly follow?: boolean }
    readonly event: LogLine | MissedEvents
  }
  readonly strace: {
    readonly params: { readonly pid?: number | undefined; readonly follow?: boolean }
    readonly event: TraceLine | MissedEvents
  }
  /** Streams the questions of processes; first those that wait already. */
  readonly attach: { readonly params: NoParams; readonly event: QuestionEvent }
}
