import { randomBytes } from 'node:crypto'
import {
  createGroupTree,
  createNamespaceTree,
  listChildren,
  type ProcessTree,
} from '../../../machine/index.ts'
import type { Launch } from '../../isolation/index.ts'
import type { RunOutcome, RunSpec } from '../command-session.ts'
import { CommandStopper } from '../run/command-stopper.ts'
import {
  createStartError,
  type RunLocation,
  sendCommand,
  toExit,
  waitForExit,
} from '../run/launched-child.ts'
import type { CommandTerminal } from './command-terminal.ts'
import { createSettingsLine, createTerminalLines, PseudoTerminal } from './pseudo-terminal.ts'

/** Time in milliseconds that a command has to save its work after its terminal is closed. */
const HANGUP_MS = 2000
/** Variables that name the terminal outside, or the multiplexer around it, which the command cannot reach. */
const TERMINAL_VARIABLES: readonly string[] = ['TMUX', 'TMUX_PANE', 'STY', 'SSH_TTY', 'GPG_TTY']
const NOTHING = new Uint8Array()

/** Runs a command to its end in a pseudo-terminal. Its output is not recorded: keys and passwords would be part of it. */
export async function runInTerminal(
  launch: Launch,
  spec: RunSpec & { readonly terminal: CommandTerminal },
  { directory, cwd }: RunLocation,
): Promise<RunOutcome> {
  const startedAt = performance.now()
  const runId = randomBytes(8).toString('hex')
  const { terminal } = spec
  // Read before the terminal passes on each key.
  const settings = createSettingsLine(terminal)
  const createLastLines = (command: string) => createTerminalLines(command, settings)
  const pseudo = new PseudoTerminal(launch, terminal, directory)
  if (pseudo.child.pid !== undefined) spec.onStart?.(pseudo.child.pid)
  const env = omitTerminalVariables(spec.env)
  const answer = sendCommand(pseudo.child, { ...spec, env }, { launch, cwd, runId, createLastLines })
  // Thrown once the launch has ended.
  answer.catch(() => {})
  using tree = new TerminalTree(pseudo, launch, runId)
  pseudo.onInterrupt = () => tree.kill()
  const terminalClosed = new AbortController()
  const disconnect = terminal.onClose(() => terminalClosed.abort())
  const endSignal = AbortSignal.any([
    terminalClosed.signal,
    ...(spec.signal === undefined ? [] : [spec.signal]),
  ])
  using stopper = new CommandStopper({ ...spec, signal: endSignal }, directory, tree)
  const [code, signal] = await waitForExit(pseudo.child, spec).finally(() => pseudo.close())
  disconnect()
  tree.end()
  const { stopped } = stopper
  if (!(await answer).isReady && stopped === undefined) throw createStartError(spec, pseudo.lastOutput)
  return {
    ...toExit(pseudo.exitCode ?? code, signal, stopped),
    stdout: NOTHING,
    stderr: NOTHING,
    lastOutput: pseudo.lastOutput,
    durationMs: performance.now() - startedAt,
    timedOut: stopped === 'timeout',
    truncated: false,
    ...(stopped !== undefined && { stopped }),
  }
}

function omitTerminalVariables(env: RunSpec['env']): RunSpec['env'] {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !TERMINAL_VARIABLES.includes(name)))
}

/** The processes in a pseudo-terminal. A closed terminal ends them: by its signal first, then by force. */
class TerminalTree implements ProcessTree, Disposable {
  readonly #pseudo: PseudoTerminal
  readonly #launch: Launch
  readonly #runId: string
  #timer: NodeJS.Timeout | undefined

  constructor(pseudo: PseudoTerminal, launch: Launch, runId: string) {
    this.#pseudo = pseudo
    this.#launch = launch
    this.#runId = runId
  }

  pids(): readonly number[] {
    return this.#trees().flatMap((tree) => tree.pids())
  }

  /** Hangs up, and kills what is left after some time. */
  kill(): void {
    this.#pseudo.hangUp()
    this.#timer ??= setTimeout(() => this.#killNow(), HANGUP_MS)
  }

  /** After the end of the command: kills processes that outlived it, where no namespace ended them with it. */
  end(): void {
    if (this.#launch.mayLeaveProcesses) this.#killNow()
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
  }

  #killNow(): void {
    for (const tree of this.#trees()) tree.kill()
  }

  #trees(): ProcessTree[] {
    const { pid } = this.#pseudo.child
    if (pid === undefined) return []
    const { hasPidNamespace, mayLeaveProcesses = false } = this.#launch
    const options = { keepsOrphans: !mayLeaveProcesses }
    return listChildren(pid).map((child) =>
      hasPidNamespace ? createNamespaceTree(child) : createGroupTree(child, this.#runId, options),
    )
  }
}
