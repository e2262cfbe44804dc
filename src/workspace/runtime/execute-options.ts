import type { CallContext } from '../../vfs/index.ts'
import type { CheckoutWatch } from '../checkout/index.ts'
import type { CommandLimits, VisiblePath } from '../isolation/index.ts'
import type { ExecutionRequest, PolicyRules } from '../policy/index.ts'
import type { CommandTerminal, RunningSession } from '../session/index.ts'
import type { Approvals } from './approvals.ts'
import type { ExecutionJournal } from './execution-journal.ts'
import type { NetworkOptions } from './execution-network.ts'
import type { CommandChanges, ExecutionWorkspace } from './execution-workspace.ts'
import type { MaskSettings } from './mask-settings.ts'

/** Environment of an execution. */
export interface ExecuteOptions extends NetworkOptions {
  /** Opens the workspace of a request. Throws ENOENT if it is missing. */
  readonly open: (request: ExecutionRequest) => Promise<ExecutionWorkspace>
  /** Directory for the files of open sessions. */
  readonly sessions: string
  readonly policy?: PolicyRules | undefined
  /** True if a person at a terminal answers for a command that only reads outside of the workspace. */
  readonly asksToReadOutside?: boolean | undefined
  readonly journal?: ExecutionJournal | undefined
  /** Without approvals, gated requests are refused. */
  readonly approvals?: Approvals | undefined
  /** Name of the fork in which the command runs, for approvals that hold there. */
  readonly forkName?: string | undefined
  /** Id of a waiting request that a person has just approved. */
  readonly answered?: string | undefined
  /** Environment of every command; variables of a request override it. */
  readonly env?: Readonly<Record<string, string>>
  /** Default input of commands: an open descriptor of this process. Empty when absent. */
  readonly stdin?: number | undefined
  /** Terminal of a person. The command gets a pseudo-terminal there, instead of input and recorded output. */
  readonly terminal?: CommandTerminal | undefined
  /** Called when the command has started, with what another process needs to join it. */
  readonly onStart?: ((session: RunningSession) => void) | undefined
  /** The user's home directory, whose secrets isolation hides. */
  readonly userHome?: string | undefined
  /** More paths that isolation hides. */
  readonly hidden?: readonly string[] | undefined
  /** Paths of the user's home that a command sees although they may hold secrets. */
  readonly visible?: readonly VisiblePath[] | undefined
  /** Sockets that a command can connect to although their directory is private. */
  readonly sockets?: readonly string[] | undefined
  /** Directory that keeps the command's own copies of visible paths; discarded when absent. */
  readonly copies?: string | undefined
  /** Called once the changes are stored, with the fork that has them; undefined if there is none. */
  readonly onStored?: ((fork: string | undefined) => void) | undefined
  /** Files of the project whose values the command does not see; none when absent. */
  readonly mask?: MaskSettings | undefined
  /** Absolute path of the program that the first word of the command names. Policy judges the word. */
  readonly program?: string | undefined
  readonly limits?: CommandLimits
  /** Memory limit in bytes for all processes of a command together; half of the machine's memory when absent. */
  readonly memory?: number | 'none'
  /** Runs the checkout of a vault, such as below a progress bar. */
  readonly watchCheckout?: CheckoutWatch | undefined
  /** Receives output in chunks. If it returns a promise, reading waits for that. */
  readonly onOutput?: ((stream: 'stdout' | 'stderr', chunk: Uint8Array) => unknown) | undefined
  /** Reports whether the output still has a reader; without one the command gets a closed pipe. */
  readonly isHeard?: ((stream: 'stdout' | 'stderr') => boolean) | undefined
  /** Called with the command's changes, while the trees before and after it are readable. */
  readonly onChanges?: ((changes: CommandChanges) => Promise<void>) | undefined
  readonly signal?: AbortSignal | undefined
  readonly by?: Pick<CallContext, 'caller' | 'trace'>
}
