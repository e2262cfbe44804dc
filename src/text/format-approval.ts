import { escapeText } from './escape.ts'

/** The parts of a request that a person approves. */
export interface ApprovalRequest {
  readonly vault: string
  readonly cwd: string
  readonly command: { readonly argv: readonly string[] } | { readonly shell: string }
  readonly network: boolean
  /** Hosts that the command asks for, in place of the whole network. */
  readonly hosts?: readonly string[] | undefined
  readonly isolation: string
  readonly session?: string | undefined
  readonly readonly?: boolean | undefined
  readonly env: Readonly<Record<string, string>>
  /** Names of further variables that the command gets. */
  readonly passedEnv?: readonly string[] | undefined
  readonly stdin?: string | Uint8Array | null | undefined
}

/** Reason and categories from the policy. */
export interface ApprovalReason {
  readonly reason?: string | null | undefined
  readonly categories?: readonly string[] | undefined
  /** Part of a shell command that decided. */
  readonly part?: string | undefined
}

const WIDTH = 100
/** Length of a question that clients show in full; they may cut a longer one. */
const MAX_QUESTION = { characters: 4000, lines: 60 }
/** Prefix of every line from the request, so that none can be mistaken for a line of the question itself. */
const QUOTE_PREFIX = '  | '
const CONTINUATION_PREFIX = '  \\ '
const CATEGORY_TEXTS: Readonly<Record<string, string>> = {
  mutating: 'changes files',
  interactive: 'waits for input at a terminal',
  destructive: 'removes files or their history',
  networked: 'reaches the network',
  host_escape_risk: 'reaches this machine outside the workspace',
}

/**
 * Formats a request for approval as lines: the command, its directory and its inputs. Long lines are wrapped and
 * nothing is omitted; characters that would control a terminal are escaped.
 */
export function formatApproval(
  request: ApprovalRequest,
  { reason, categories, part }: ApprovalReason,
): string[] {
  const {
    vault,
    cwd,
    command,
    network,
    hosts = [],
    isolation,
    session = 'auto',
    readonly,
    env,
    passedEnv,
    stdin,
  } = request
  const isNetworked = network || categories?.includes('networked')
  const isConfined = !network && hosts.length > 0
  const isUnknown = !isNetworked && categories === undefined
  const settings = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const effects = categories?.flatMap((category) => CATEGORY_TEXTS[category] ?? []) ?? []
  const input = typeof stdin === 'object' && stdin !== null ? Buffer.from(stdin).toString() : stdin
  return [
    ...(reason == null ? [] : ['why:', ...quoteLines(reason)]),
    ...(part === undefined ? [] : ['the part that decides:', ...quoteLines(part)]),
    'command:',
    ...quoteLines(formatCommandLine(command)),
    'directory:',
    ...quoteLines(vault),
    ...(cwd === '/' ? [] : ['below it, in:', ...quoteLines(cwd)]),
    ...(effects.length === 0 ? [] : [`it: ${effects.join(', ')}`]),
    ...(isConfined
      ? ['network: these hosts, for the whole command', ...quoteLines(hosts.join('\n'))]
      : [
          `network: ${isNetworked ? 'yes, for the whole command' : isUnknown ? 'if the command needs it' : 'no'}`,
        ]),
    `isolation: ${isolation === 'none' ? 'none, it has all of this machine' : isolation}; session: ${session}${readonly === true ? ', read-only' : ''}`,
    ...(settings.length === 0 ? [] : ['variables:', ...settings.flatMap(quoteLines)]),
    ...(passedEnv?.length ? ['variables of yours that it gets:', ...quoteLines(passedEnv.join(', '))] : []),
    ...(input == null || input === '' ? [] : ['it reads:', ...quoteLines(input)]),
  ]
}

/** Reports whether one message can show the whole question. */
export function fitsInQuestion(text: string): boolean {
  return text.length <= MAX_QUESTION.characters && text.split('\n').length <= MAX_QUESTION.lines
}

/** Returns the lines of a text with the prefix of a quote, wrapped and escaped. */
function quoteLines(text: string): string[] {
  const visible = escapeText(text.replaceAll('\r', '\\r')).toWellFormed()
  return visible.split('\n').flatMap((line) => {
    const pieces = line.match(LINE_PIECES) ?? ['']
    return pieces.map((piece, index) => `${index === 0 ? QUOTE_PREFIX : CONTINUATION_PREFIX}${piece}`)
  })
}

const LINE_PIECES = new RegExp(`.{1,${WIDTH}}`, 'gu')

/** Matches a word that a shell takes as it is. */
const PLAIN_WORD = /^[\w@%+=:,./-]+$/

/** Formats a command as it is typed in a shell, with each argument quoted if needed. */
function formatCommandLine(
  command: { readonly argv: readonly string[] } | { readonly shell: string },
): string {
  return 'shell' in command ? command.shell : command.argv.map(quoteWord).join(' ')
}

function quoteWord(word: string): string {
  return PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
