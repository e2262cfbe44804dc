import { getValues, type OptionSet, parseArguments, toOptionSet } from './options.ts'
import {
  createAliases,
  createFinding,
  createUnseenFindings,
  isStream,
  type NestedCommand,
  type ProgramClassifier,
  type ProgramTable,
} from './program.ts'

/** Options of the vi family that take a value. */
const VI_VALUES = toOptionSet('-c --cmd -S -u -U -i -T -w -W -t -q -l')

/** Commands come as options, after a plus, or over standard input. */
const vi: ProgramClassifier = ({ args, stdin = '' }) => {
  const sorted = parseArguments(args, VI_VALUES)
  const scripts = getValues(sorted, '-S -u -U -l')
  const given = [...getValues(sorted, '-c --cmd'), ...sorted.operands.flatMap(parsePlusCommand)]
  const isBatch = args.some((arg) => /^-(?:es|Es|s)$/.test(arg))
  return {
    findings: [
      createFinding(isBatch || scripts.length > 0 ? 'mutating' : 'interactive'),
      ...(scripts.some(isStream) ? createUnseenFindings('what it reads') : []),
    ],
    runs: [...given, stdin].flatMap(parseEditorCommands),
    paths: [
      ...sorted.operands.filter((word) => !word.startsWith('+')),
      ...[...given, ...stdin.split('\n')].flatMap(listFiles),
      ...scripts,
      ...getValues(sorted, '-w -W -i'),
    ],
  }
}

/** Line editors, which read their commands. */
const ed: ProgramClassifier = ({ args, stdin }) => ({
  findings: [createFinding(stdin === undefined ? 'interactive' : 'mutating')],
  runs: parseEditorCommands(stdin ?? ''),
  paths: [...args, ...(stdin ?? '').split('\n').flatMap(listFiles)],
})

/** Emacs in batch mode is an interpreter of Lisp. */
const emacs: ProgramClassifier = ({ args }) => {
  const sorted = parseArguments(args, toOptionSet('--eval -eval --execute -l --load -f --funcall --visit'))
  const isBatch = args.some((arg) => /^--?batch$/.test(arg))
  const code = getValues(sorted, '--eval -eval --execute')
  return {
    findings: [createFinding(isBatch ? 'mutating' : 'interactive')],
    runs: code.map((text) => ({ code: text })),
    paths: args.filter((arg) => !code.includes(arg)),
  }
}

/** Creates a program for the terminal, with options whose value is a line that it runs. */
function createViewer(lines: string, files: string, words: string): ProgramClassifier {
  const takesValue: OptionSet = toOptionSet(`${lines} ${files} ${words}`)
  return ({ args }) => {
    const sorted = parseArguments(args, takesValue)
    const given = getValues(sorted, lines)
    return {
      findings: [createFinding('interactive')],
      runs: [
        ...given.map((maybe) => ({ maybe })),
        // A mark follows the `|`, then a line that reads the text up to the mark.
        ...sorted.operands
          .flatMap(parsePlusCommand)
          .flatMap((text) => parseEditorCommands(text.replace(/^\|./s, '!'))),
      ],
      paths: [...sorted.operands.filter((word) => !word.startsWith('+')), ...getValues(sorted, files)],
    }
  }
}

const DEBUGGER_LINES =
  '-ex --ex -iex --iex -eval-command --eval-command -init-eval-command --init-eval-command -o -O --one-line --one-line-before-file'
const DEBUGGER_SCRIPTS = '-x -command --command -s --source -S --source-before-file -ix'
const DEBUGGER_VALUES = toOptionSet(`${DEBUGGER_LINES} ${DEBUGGER_SCRIPTS} -p -pid --pid`)

/** Finds the line of `pipe p x | line`. */
function findPipedCommand(command: string): NestedCommand[] {
  return (
    command
      .match(/\|\s*([^|].*)$/s)
      ?.slice(1)
      .map((maybe) => ({ maybe })) ?? []
  )
}

/** A debugger's commands may be lines of a shell, and it may attach to a running process. */
const debuggerProgram: ProgramClassifier = ({ args, stdin }) => {
  const sorted = parseArguments(args, DEBUGGER_VALUES)
  const given = getValues(sorted, DEBUGGER_LINES)
  const scripts = getValues(sorted, DEBUGGER_SCRIPTS)
  const start = args.findIndex((arg) => arg === '--args' || arg === '--')
  const isAttached = getValues(sorted, '-p -pid --pid').length > 0
  return {
    findings: [
      createFinding('interactive'),
      createFinding('mutating', 'runs a program under observation'),
      ...(scripts.some(isStream) ? createUnseenFindings('what it reads') : []),
      ...(isAttached ? [createFinding('host_escape_risk', 'takes over a process of this machine')] : []),
    ],
    runs: [
      ...[...given, stdin ?? ''].flatMap((code): NestedCommand[] => [{ code }, ...findPipedCommand(code)]),
      ...(start === -1 ? [] : [{ argv: args.slice(start + 1) }]),
    ],
    paths: args.filter((arg) => !given.includes(arg)),
  }
}

/** fzf runs lines for the selection, some of them after the name of a key. */
const fzf: ProgramClassifier = ({ args }) => {
  const sorted = parseArguments(args, toOptionSet('--preview --bind -q --query -f --filter'))
  const bound = getValues(sorted, '--bind').flatMap((bind) => [...bind.matchAll(/[(:[{]([^)\]}]+)/g)])
  const lines = [
    ...getValues(sorted, '--preview'),
    ...bound.map(([, line = '']) => line.replace(/^.*[(]/s, '')),
  ]
  return { findings: [createFinding('interactive')], runs: lines.map((maybe) => ({ maybe })) }
}

/** Lists the words after an editor's command, which may be files: `:w file`, `:r file`. */
function listFiles(command: string): string[] {
  return /^[:\d,.$%]*[a-z]+!?\s/i.test(command) ? command.split(/\s+/).slice(1) : []
}

function parsePlusCommand(word: string): string[] {
  return word.startsWith('+') ? [word.slice(1)] : []
}

/** Parses `!line`, `%!line`, `:r !line`, and code of the editor's own language. */
function parseEditorCommands(text: string): NestedCommand[] {
  if (text === '') return []
  const lines = [...text.matchAll(/(?:!+|\bterm(?:inal)?\s)\s*([^\n]+)/g)].map(
    ([, maybe = '']): NestedCommand => ({ maybe }),
  )
  return [...lines, { code: text }]
}

/** Programs that show or edit files at a terminal, and run commands from inside. */
export const editors: ProgramTable = {
  ...createAliases('vi vim nvim view vimdiff gvim ex rvim rview gview nvi vis', vi),
  ...createAliases('ed red', ed),
  ...createAliases('emacs emacsclient', emacs),
  ...createAliases('less more most', createViewer('', '-o -O -k -T --log-file --lesskey-file', '-p -P -t')),
  ...createAliases(
    'man',
    createViewer('-P --pager -H --html', '-M --manpath -C --config-file', '-S -s -L --sections'),
  ),
  ...createAliases('gdb lldb', debuggerProgram),
  ...createAliases('fzf sk', fzf),
}
