import { createInterface } from 'node:readline/promises'
import type { DaemonClient, DaemonStreams } from '../../../daemon/client/index.ts'
import { escapeName } from '../../../text/index.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { formatHomeCommand, type HintTarget } from '../../framework/hint.ts'
import type { Terminal } from '../../framework/terminal.ts'
import { escapeForTerminal } from '../../render/format-values.ts'
import { LogWriter } from '../../render/log-writer.ts'
import type { ProcessInfo } from '../../render/process-format.ts'

export type ProcessQuestions = Extract<DaemonStreams['attach']['event'], { readonly asked: unknown }>['asked']

/**
 * Prints the log of a process and asks the user its questions, until it ends. Then prints its outcome, which is all
 * that JSON output has, and returns its exit code. ^C detaches.
 */
export async function followProcess(
  client: DaemonClient,
  call: CommandInvocation,
  pid: number,
): Promise<number> {
  const { output, terminal } = call
  const end = new AbortController()
  const signal = AbortSignal.any([terminal.signal, end.signal])
  const questions = answerQuestions(client, terminal, pid, signal)
  // A failure of either stream ends the other, and is the error thrown.
  questions.catch(() => end.abort())
  const writer = new LogWriter(output, terminal)
  try {
    for await (const event of client.stream('logs', { pid, follow: true }, signal)) {
      if (!call.isJson) await writer.write(event)
    }
    if (!call.isJson) await writer.endLine()
  } catch (error) {
    if (terminal.signal.aborted)
      terminal.err.write(
        `\nprocess ${pid} goes on; follow it with ${formatHomeCommand(call, 'attach', String(pid))}, end it with ${formatHomeCommand(call, 'kill', String(pid))}\n`,
      )
    throw error
  } finally {
    end.abort()
    await questions
  }
  return printOutcome(call, await client.call('wait', { pid }, terminal.signal))
}

/**
 * Formats the commands that show and keep the work of a process in its directory or vault.
 * `into` is the vault to keep it in, if the fork is one of another fork.
 */
export function formatNextSteps(
  target: HintTarget,
  fork: string,
  { vault, into }: { readonly vault: string | null; readonly into?: string },
): string {
  const formatPair = (look: readonly string[], keep: readonly string[]) =>
    `see ${formatHomeCommand(target, ...look)}, and ${formatHomeCommand(target, ...keep)}`
  if (vault?.startsWith('/') === true) return formatPair(['diff', fork], ['apply', fork])
  return into === undefined
    ? formatPair(['diff', '--vault', fork], ['merge', fork])
    : formatPair(['diff', `vault:${into}`, '--vault', fork], ['merge', fork, into])
}

/** Prints the outcome of a process and returns its exit code. */
export async function printOutcome(call: CommandInvocation, process: ProcessInfo): Promise<number> {
  const { output, terminal } = call
  const { result, reason, fork, exit_code: code } = process
  const words =
    code === 0 ? escapeForTerminal(terminal, result) : `process ${process.pid}: ${escapeName(reason)}`
  const next = fork === null ? '' : `\nits work is in ${fork}; ${formatNextSteps(call, fork, process)}`
  await output.writeValue(process, `${words}${terminal.isInteractive ? next : ''}`)
  return code ?? 1
}

/** Asks the user the questions of a process; without a terminal, prints how to answer them. */
async function answerQuestions(
  client: DaemonClient,
  terminal: Terminal,
  pid: number,
  signal: AbortSignal,
): Promise<void> {
  try {
    for await (const event of client.stream('attach', {}, signal)) {
      if (!('asked' in event) || event.asked.pid !== pid) continue
      if (terminal.canAsk) await promptForAnswers(client, terminal, event.asked, signal)
      else
        terminal.err.write(
          `${formatQuestions(event.asked)}\nanswer with: coppice answer ${event.asked.id} <words…>\n`,
        )
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

async function promptForAnswers(
  client: DaemonClient,
  terminal: Terminal,
  { id, questions }: ProcessQuestions,
  signal: AbortSignal,
): Promise<void> {
  const dialogue = createInterface({ input: terminal.in, output: terminal.err })
  try {
    const answers: (string | string[])[] = []
    for (const question of questions) {
      const words = await dialogue.question(`${formatQuestion(question)}\n> `, { signal })
      answers.push(parseReply(question, words))
    }
    await client.call('answer', { id, answers }, signal)
  } finally {
    dialogue.close()
  }
}

/** Parses a reply, in which numbers and the first words of an option select it. */
export function parseReply(
  { options, multi_select }: ProcessQuestions['questions'][number],
  words: string,
): string | string[] {
  const resolveOption = (word: string) => options[Number(word) - 1] ?? findOption(options, word) ?? word
  return multi_select ? words.split(/\s*,\s*/).map(resolveOption) : resolveOption(words.trim())
}

/** Returns the option that is this text, or the only one that begins with its words: `yes` selects `yes, once`. */
function findOption(options: readonly string[], text: string): string | undefined {
  const wanted = text.toLowerCase()
  if (wanted === '') return undefined
  const begun = options.filter((option) => {
    const rest = option.toLowerCase().startsWith(wanted) ? option.slice(wanted.length) : undefined
    return rest !== undefined && !/^[\p{L}\p{N}]/u.test(rest)
  })
  return begun.find((option) => option.length === text.length) ?? (begun.length === 1 ? begun[0] : undefined)
}

export function formatQuestions({ id, pid, questions }: ProcessQuestions): string {
  return [`process ${pid} asks (${id}):`, ...questions.map(formatQuestion)].join('\n')
}

function formatQuestion({ question, options, multi_select }: ProcessQuestions['questions'][number]): string {
  const choices = options.map((option, index) => `  ${index + 1}. ${escapeName(option)}`)
  const several = multi_select ? ' (several, with commas between them)' : ''
  return [`${formatQuestionText(question)}${several}`, ...choices].join('\n')
}

/** Escapes a question of a model. Lines of a longer one are marked, so that none passes for a line of Coppice. */
function formatQuestionText(question: string): string {
  const lines = question.split('\n')
  if (lines.length === 1) return escapeName(question)
  return lines.map((line) => `  | ${escapeName(line)}`).join('\n')
}
