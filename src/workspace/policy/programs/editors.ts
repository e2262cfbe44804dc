import { sortOut, type Valued, valued, valuesOf } from './options.ts'
import { finding, type Nested, named, type Program, type Programs } from './program.ts'

/** What an editor of the vi family takes commands from. */
const VI_VALUES = valued('-c --cmd -S -u -U -i -T -w -W -t -q')

/** Commands of its own come as options, after a plus, or where nobody sits at it over standard input. */
const vi: Program = ({ args, stdin }) => {
  const sorted = sortOut(args, VI_VALUES)
  const given = [...valuesOf(sorted, '-c --cmd'), ...sorted.operands.flatMap(plusCommand)]
  const isBatch = args.some((arg) => /^-(?:es|Es|s)$/.test(arg))
  return {
    findings: [finding(isBatch ? 'mutating' : 'interactive')],
    runs: [...given, stdin ?? ''].flatMap(commandsOf),
    paths: [
      ...sorted.operands.filter((word) => !word.startsWith('+')),
      ...given.flatMap(filesIn),
      ...valuesOf(sorted, '-S -u -w -W -i'),
    ],
  }
}

/** Line editors, which read their commands. */
const ed: Program = ({ args, stdin }) => ({
  findings: [finding(stdin === undefined ? 'interactive' : 'mutating')],
  runs: commandsOf(stdin ?? ''),
  paths: args,
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
function viewer(lines: string, values: string): Program {
  const takesValue: Valued = valued(`${lines} ${values}`)
  return ({ args }) => {
    const sorted = sortOut(args, takesValue)
    const given = valuesOf(sorted, lines)
    return {
      findings: [finding('interactive')],
      runs: [
        ...given.map((maybe) => ({ maybe })),
        ...sorted.operands.flatMap(plusCommand).flatMap(commandsOf),
      ],
      paths: sorted.operands.filter((word) => !word.startsWith('+')),
    }
  }
}

/** A debugger's commands may be lines of a shell, and it may take over a process that runs already. */
const debugger_: Program = ({ args, stdin }) => {
  const sorted = sortOut(
    args,
    valued('-ex --eval-command -iex -x --command -p --pid -o --one-line -s --source'),
  )
  const given = valuesOf(sorted, '-ex --eval-command -iex -o --one-line')
  const at = args.findIndex((arg) => arg === '--args' || arg === '--')
  const isAttached = valuesOf(sorted, '-p --pid').length > 0
  return {
    findings: [
      finding('interactive'),
      finding('mutating', 'runs a program under observation'),
      ...(isAttached ? [finding('host_escape_risk', 'takes over a process of this machine')] : []),
    ],
    runs: [
      ...[...given, stdin ?? ''].map((code): Nested => ({ code })),
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

/** `:w file`, `:r file`: whatever comes after the name of a command of its own. */
function filesIn(command: string): string[] {
  return command.split(/\s+/).slice(1)
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
  ...named('vi vim nvim view vimdiff gvim ex', vi),
  ...named('ed red', ed),
  ...named('emacs emacsclient', emacs),
  ...named('less more most', viewer('', '-o -O -p -P -t -T -k')),
  ...named('man', viewer('-P --pager -H --html', '-M -S -s -L -l --manpath --sections')),
  ...named('gdb lldb', debugger_),
  ...named('fzf sk', fzf),
}
