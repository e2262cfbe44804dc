import { sortOut, type Valued, valued, valuesOf } from './options.ts'
import { finding, isStream, type Nested, named, type Program, type Programs, unseen } from './program.ts'

/** What an editor of the vi family takes commands from. */
const VI_VALUES = valued('-c --cmd -S -u -U -i -T -w -W -t -q -l')

/** Commands of its own come as options, after a plus, or where nobody sits at it over standard input. */
const vi: Program = ({ args, stdin = '' }) => {
  const sorted = sortOut(args, VI_VALUES)
  const scripts = valuesOf(sorted, '-S -u -U -l')
  const given = [...valuesOf(sorted, '-c --cmd'), ...sorted.operands.flatMap(plusCommand)]
  const isBatch = args.some((arg) => /^-(?:es|Es|s)$/.test(arg))
  return {
    findings: [
      finding(isBatch || scripts.length > 0 ? 'mutating' : 'interactive'),
      ...(scripts.some(isStream) ? unseen('what it reads') : []),
    ],
    runs: [...given, stdin].flatMap(commandsOf),
    paths: [
      ...sorted.operands.filter((word) => !word.startsWith('+')),
      ...[...given, ...stdin.split('\n')].flatMap(filesIn),
      ...scripts,
      ...valuesOf(sorted, '-w -W -i'),
    ],
  }
}

/** Line editors, which read their commands. */
const ed: Program = ({ args, stdin }) => ({
  findings: [finding(stdin === undefined ? 'interactive' : 'mutating')],
  runs: commandsOf(stdin ?? ''),
  paths: [...args, ...(stdin ?? '').split('\n').flatMap(filesIn)],
})

/** Emacs in batch mode is an interpreter of Lisp. */
const emacs: Program = ({ args }) => {
  const sorted = sortOut(args, valued('--eval -eval --execute -l --load -f --funcall --visit'))
  const isBatch = args.some((arg) => /^--?batch$/.test(arg))
  const code = valuesOf(sorted, '--eval -eval --execute')
  return {
    findings: [finding(isBatch ? 'mutating' : 'interactive')],
    runs: code.map((one) => ({ code: one })),
    paths: args.filter((arg) => !code.includes(arg)),
  }
}

/** A program for whoever sits at a terminal, with options whose value is a line it runs. */
function viewer(lines: string, files: string, words: string): Program {
  const takesValue: Valued = valued(`${lines} ${files} ${words}`)
  return ({ args }) => {
    const sorted = sortOut(args, takesValue)
    const given = valuesOf(sorted, lines)
    return {
      findings: [finding('interactive')],
      runs: [
        ...given.map((maybe) => ({ maybe })),
        // After a `|` stands a mark, then a line that gets what is up to there.
        ...sorted.operands.flatMap(plusCommand).flatMap((text) => commandsOf(text.replace(/^\|./s, '!'))),
      ],
      paths: [...sorted.operands.filter((word) => !word.startsWith('+')), ...valuesOf(sorted, files)],
    }
  }
}

const DEBUGGER_LINES =
  '-ex --ex -iex --iex -eval-command --eval-command -init-eval-command --init-eval-command -o -O --one-line --one-line-before-file'
const DEBUGGER_SCRIPTS = '-x -command --command -s --source -S --source-before-file -ix'
const DEBUGGER_VALUES = valued(`${DEBUGGER_LINES} ${DEBUGGER_SCRIPTS} -p -pid --pid`)

/** `pipe p x | line`. */
function piped(command: string): Nested[] {
  return (
    command
      .match(/\|\s*([^|].*)$/s)
      ?.slice(1)
      .map((maybe) => ({ maybe })) ?? []
  )
}

/** A debugger's commands may be lines of a shell, and it may take over a process that runs already. */
const debugger_: Program = ({ args, stdin }) => {
  const sorted = sortOut(args, DEBUGGER_VALUES)
  const given = valuesOf(sorted, DEBUGGER_LINES)
  const scripts = valuesOf(sorted, DEBUGGER_SCRIPTS)
  const at = args.findIndex((arg) => arg === '--args' || arg === '--')
  const isAttached = valuesOf(sorted, '-p -pid --pid').length > 0
  return {
    findings: [
      finding('interactive'),
      finding('mutating', 'runs a program under observation'),
      ...(scripts.some(isStream) ? unseen('what it reads') : []),
      ...(isAttached ? [finding('host_escape_risk', 'takes over a process of this machine')] : []),
    ],
    runs: [
      ...[...given, stdin ?? ''].flatMap((code): Nested[] => [{ code }, ...piped(code)]),
      ...(at === -1 ? [] : [{ argv: args.slice(at + 1) }]),
    ],
    paths: args.filter((arg) => !given.includes(arg)),
  }
}

/** fzf runs lines for what is chosen, some of them behind the name of a key. */
const fzf: Program = ({ args }) => {
  const sorted = sortOut(args, valued('--preview --bind -q --query -f --filter'))
  const bound = valuesOf(sorted, '--bind').flatMap((bind) => [...bind.matchAll(/[(:[{]([^)\]}]+)/g)])
  const lines = [
    ...valuesOf(sorted, '--preview'),
    ...bound.map(([, line = '']) => line.replace(/^.*[(]/s, '')),
  ]
  return { findings: [finding('interactive')], runs: lines.map((maybe) => ({ maybe })) }
}

/** `:w file`, `:r file`: whatever comes after the name of a command of its own, if that looks like one. */
function filesIn(command: string): string[] {
  return /^[:\d,.$%]*[a-z]+!?\s/i.test(command) ? command.split(/\s+/).slice(1) : []
}

function plusCommand(word: string): string[] {
  return word.startsWith('+') ? [word.slice(1)] : []
}

/** `!line`, `%!line`, `:r !line`, and whatever code of their own language says. */
function commandsOf(text: string): Nested[] {
  if (text === '') return []
  const lines = [...text.matchAll(/(?:!+|\bterm(?:inal)?\s)\s*([^\n]+)/g)].map(
    ([, maybe = '']): Nested => ({ maybe }),
  )
  return [...lines, { code: text }]
}

/** Programs that show or edit files for whoever sits at a terminal, and run commands from inside. */
export const editors: Programs = {
  ...named('vi vim nvim view vimdiff gvim ex rvim rview gview nvi vis', vi),
  ...named('ed red', ed),
  ...named('emacs emacsclient', emacs),
  ...named('less more most', viewer('', '-o -O -k -T --log-file --lesskey-file', '-p -P -t')),
  ...named('man', viewer('-P --pager -H --html', '-M --manpath -C --config-file', '-S -s -L --sections')),
  ...named('gdb lldb', debugger_),
  ...named('fzf sk', fzf),
}
