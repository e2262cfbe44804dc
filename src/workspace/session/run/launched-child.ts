import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { Duplex } from 'node:stream'
import { RUN_ID_VARIABLE } from '../../../machine/index.ts'
import { VfsError } from '../../../vfs/index.ts'
import { createCommandScript, type Launch, PIPES_MESSAGE, READY_MESSAGE } from '../../isolation/index.ts'
import type { CommandSpec } from '../../policy/index.ts'
import type { RunOutcome, RunSpec, StopReason } from '../command-session.ts'

/** Location of a run: the directory of its session, and its working directory as the command sees it. */
export interface RunLocation {
  readonly directory: string
  readonly cwd: string
}

/** A command to send to the shell of a launch. */
export interface SentCommand {
  readonly launch: Launch
  readonly cwd: string
  /** Id by which the processes of the command are found, where no namespace contains them. */
  readonly runId: string
  /** Returns the shell lines that run the command; by default it replaces the shell. */
  readonly createLastLines?: (command: string) => readonly string[]
  /** Called when the launch has created the pipes of the command. It waits until they are open. */
  readonly onPipes?: () => void
}

/** The answer of a launch until its command began, or until it ended. */
export interface LaunchAnswer {
  readonly isReady: boolean
  /** Messages of programs that failed before. */
  readonly text: string
}

/** Script of a launch whose command must not begin. */
const NO_COMMAND = 'exit 1'

/** Parts of a run that concern what is sent. */
type SentSpec = Pick<RunSpec, 'command' | 'env' | 'beforeCommand'>

/**
 * Sends the launched shell its command; resolves when the command began, or the launch ended before. Throws what
 * `beforeCommand` throws, once the launch has ended without a command.
 */
export async function sendCommand(
  child: ChildProcess,
  { command, env, beforeCommand }: SentSpec,
  { launch, cwd, runId, createLastLines, onPipes }: SentCommand,
): Promise<LaunchAnswer> {
  // A child that could not be started has no channels.
  const channel = child.pid === undefined ? undefined : child.stdio[3]
  if (!(channel instanceof Duplex)) return { isReady: false, text: '' }
  const settings = launch.hasPidNamespace ? env : { ...env, [RUN_ID_VARIABLE]: runId }
  const script = () => createCommandScript(toArgv(command), settings, cwd, createLastLines)
  let sent: Promise<void> | undefined
  const send = () => {
    sent = endChannel(channel, script, beforeCommand)
    // Thrown below, once the channel has closed.
    sent.catch(() => {})
  }
  let answer = ''
  channel.on('data', (chunk: Buffer) => {
    const hadPipes = hasLine(answer, PIPES_MESSAGE)
    answer += chunk.toString('latin1')
    if (hadPipes || !hasLine(answer, PIPES_MESSAGE)) return
    onPipes?.()
    if (launch.createsPipes) send()
  })
  // The launch may fail before it reads anything; its missing answer reports that.
  channel.on('error', () => undefined)
  // Not before it has its pipes: a write to a launch that ended would close the channel, with its reason unread.
  if (!launch.createsPipes) send()
  await once(channel, 'close').catch(() => undefined)
  await sent
  return { isReady: hasLine(answer, READY_MESSAGE), text: answer }
}

/** Ends a channel with the script of a command after some work, or with none, and throws, if the work fails. */
async function endChannel(
  channel: Duplex,
  script: () => string,
  prepare: RunSpec['beforeCommand'],
): Promise<void> {
  try {
    await prepare?.()
  } catch (error) {
    // Not destroyed: the launch may still wait for the pipes of its command, which stay open until it ends.
    channel.end(NO_COMMAND)
    throw error
  }
  channel.end(script())
}

function hasLine(text: string, line: string): boolean {
  return text.split('\n').slice(0, -1).includes(line)
}

/** Resolves when the child exits. Throws EIO if the system could not start it. */
export async function waitForExit(
  child: ChildProcess,
  spec: RunSpec,
): Promise<[number | null, NodeJS.Signals | null]> {
  const [code, signal]: [number | null, NodeJS.Signals | null] = await new Promise((resolve, reject) => {
    child.once('error', ({ message }) => reject(createStartError(spec, Buffer.from(message))))
    child.once('exit', (...exit) => resolve(exit))
  })
  return [code, signal]
}

/** Returns how a command ended, as a shell reports it. */
export function toExit(
  code: number | null,
  signal: NodeJS.Signals | null,
  stopped: StopReason | undefined,
): Pick<RunOutcome, 'exitCode' | 'signal'> {
  if (stopped !== undefined) return { exitCode: null, signal: 'SIGKILL' }
  if (code === null) return { exitCode: 128 + constants.signals[signal ?? 'SIGKILL'], signal }
  const name = Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0]
  return { exitCode: code, signal: name ?? null }
}

/** Returns the error for a launch that failed before its command began, with the first line that it printed. */
export function createStartError({ cwd }: RunSpec, output: Uint8Array): VfsError {
  const reason = Buffer.from(output).toString('utf8').trim().split('\n', 1)[0] || 'it gave no reason'
  return new VfsError('EIO', cwd, { op: 'exec', detail: `the command could not be started: ${reason}` })
}

function toArgv(command: CommandSpec): readonly string[] {
  return 'argv' in command ? command.argv : ['/bin/sh', '-c', command.shell]
}
