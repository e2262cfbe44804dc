import { isLiteral, UNKNOWN } from '../shell/unknown.ts'
import { getValues, hasOption, parseArguments, toOptionSet } from './options.ts'
import {
  createAliases,
  createEffect,
  createFinding,
  createUnseenFindings,
  type Invocation,
  isStream,
  type NestedCommand,
  type ProgramClassifier,
  type ProgramEffect,
  type ProgramTable,
  READS,
} from './program.ts'

const RUNS_CODE = 'runs code that policy cannot analyse'

/** Options of an interpreter, by their kind. */
interface Language {
  /** Options whose value is code. */
  readonly code: string
  /** Options that take another value. */
  readonly values: string
  /** Options with which it only prints information about itself. */
  readonly infoOptions: string
}

/** Creates an interpreter of another language: its code is scanned for plain hints. */
function createInterpreter({ code, values, infoOptions }: Language): ProgramClassifier {
  const takesValue = toOptionSet(`${code} ${values}`)
  return ({ args, stdin }) => {
    const sorted = parseArguments(args, takesValue)
    const texts = getValues(sorted, code)
    if (texts.length > 0) {
      const runs = [...texts, ...getValues(sorted, '-M -r --import')].map(toCode)
      return { ...createEffect('mutating', RUNS_CODE), runs, paths: excludeTexts(args, texts) }
    }
    if (hasOption(sorted, infoOptions) && sorted.operands.length === 0) return READS
    const [script = '-'] = sorted.operands
    if (isStream(script)) return classifyStream(script, stdin, toCode)
    return createEffect('mutating', RUNS_CODE)
  }
}

/** Modules of Python that serve or reach the network. */
const SERVERS = /^(?:http\.server|smtpd|xmlrpc\.server|pydoc|webbrowser|ensurepip|telnetlib|ftplib)$/

/** `python -m module`: the words after it belong to the module. */
const python: ProgramClassifier = (call) => {
  const index = call.args.findIndex((arg) => MODULE.test(arg))
  const script = parseArguments(call.args, PYTHON_VALUES).operands[0]
  if (index === -1 || (script !== undefined && call.args.indexOf(script) < index)) return pythonCode(call)
  const attachedValue = call.args[index]?.replace(MODULE, '') ?? ''
  const [module = UNKNOWN, ...args] = [
    ...(attachedValue === '' ? [] : [attachedValue]),
    ...call.args.slice(index + 1),
  ]
  if (CARRIERS.test(module)) return classifyCarriedModule(call, args)
  if (SERVERS.test(module))
    return { findings: [createFinding('networked'), createFinding('mutating', RUNS_CODE)], paths: call.args }
  return { ...createEffect('mutating', RUNS_CODE), runs: [{ argv: [module, ...args], stdin: call.stdin }] }
}
/** Modules that run another one, a script, or code in an argument. */
const CARRIERS =
  /^(?:cProfile|profile|pdb|trace|runpy|coverage|timeit|debugpy|scalene|viztracer|pyinstrument)$/
const CARRIER_VALUES = toOptionSet('-s --setup -c --command -o -n -r')

function classifyCarriedModule({ stdin }: Invocation, args: readonly string[]): ProgramEffect {
  const index = args.indexOf('-m')
  const sorted = parseArguments(args, CARRIER_VALUES)
  const texts = [...sorted.operands, ...getValues(sorted, '-s --setup -c --command')]
  const argv = ['python', ...(index === -1 ? ['-m', ...sorted.rest] : args.slice(index))]
  return {
    ...createEffect('mutating', RUNS_CODE),
    runs: [...texts.map(toCode), { argv, stdin }],
    paths: args,
  }
}

const MODULE = /^-[bBdEhiIOqsSuvVx]*m/
const PYTHON_VALUES = toOptionSet('-W -X -c -m --check-hash-based-pycs')
const pythonCode = createInterpreter({
  code: '-c',
  values: '-W -X --check-hash-based-pycs',
  infoOptions: '-V --version -h --help',
})

function toCode(code: string): NestedCommand {
  return { code }
}

function excludeTexts(args: readonly string[], texts: readonly string[]): string[] {
  return args.filter((arg) => !texts.some((text) => arg.endsWith(text)))
}

/** Classifies code from standard input, or from the end of another pipe, which is never known. */
function classifyStream(
  script: string,
  stdin: string | undefined,
  nested: (text: string) => NestedCommand,
): ProgramEffect {
  return /^-$|stdin$|fd\/0$/.test(script)
    ? classifyInput(stdin, nested)
    : { findings: createUnseenFindings('what it reads') }
}

/** Classifies code from standard input: of a here-document, of a pipe, or typed at the terminal. */
function classifyInput(stdin: string | undefined, nested: (text: string) => NestedCommand): ProgramEffect {
  if (stdin === undefined)
    return { findings: [createFinding('interactive'), createFinding('mutating', RUNS_CODE)] }
  // The known part of it still counts.
  if (!isLiteral(stdin))
    return { findings: createUnseenFindings('what it reads'), runs: stdin === UNKNOWN ? [] : [nested(stdin)] }
  return { ...createEffect('mutating', RUNS_CODE), runs: [nested(stdin)] }
}

const SHELL_VALUES = toOptionSet('-o +o -O +O --rcfile --init-file')

/** A shell: a script, a line after `-c`, or its standard input. */
const shell: ProgramClassifier = ({ args, stdin }) => {
  // Options may start with a plus.
  const sorted = parseArguments(
    args.map((arg, index) => (isPlusOption(args, index) ? `-${arg.slice(1)}` : arg)),
    SHELL_VALUES,
  )
  if (hasOption(sorted, '--version --help')) return READS
  const [first, ...parameters] = sorted.operands
  const paths = [...parameters, ...getValues(sorted, '--rcfile --init-file')]
  const isCommand = [...sorted.options.keys()].some((name) => /^[-+][a-zA-Z]*c/.test(name))
  const isFed = getValues(sorted, '--rcfile --init-file').some(isStream)
  const base = [
    ...(hasOption(sorted, '-i') ? [createFinding('interactive')] : []),
    ...(isFed ? createUnseenFindings('what it reads') : []),
  ]
  if (isCommand) return { findings: base, runs: [{ shell: first ?? UNKNOWN }], paths }
  if (first === undefined || hasOption(sorted, '-s')) {
    const { findings, runs = [] } = classifyInput(stdin, toShellLine)
    return { findings: [...base, ...findings], runs, paths }
  }
  if (isStream(first)) return { ...classifyStream(first, stdin, toShellLine), paths }
  // A script whose name is only known at run time may be empty: the shell then reads its input.
  const runs = isLiteral(first) || stdin === undefined ? [] : [{ shell: stdin }]
  // With more words after it, an unknown word may be `-c`.
  if (first.startsWith(UNKNOWN) && parameters.length > 0)
    return { findings: createUnseenFindings('a line'), runs, paths }
  const findings = [...base, createFinding('mutating', 'runs a script')]
  return { findings, runs, paths: [first, ...paths] }
}

const LINES = '-c --command --commands -C --init-command -e --execute'

/** Shells with further options for a line, and for one that runs before everything else. */
const newerShell: ProgramClassifier = (call) => {
  const sorted = parseArguments(call.args, toOptionSet(LINES))
  const lines = getValues(sorted, LINES)
  return lines.length === 0
    ? shell(call)
    : { findings: [], runs: lines.map(toShellLine), paths: sorted.operands }
}

/** Names of options are case-insensitive and may be abbreviated. A line follows `-Command`. */
const powerShell: ProgramClassifier = (call) => {
  if (call.args.some((arg) => /^-(?:e|ec|en\w*)$/i.test(arg)))
    return { findings: createUnseenFindings('what is encoded') }
  const index = call.args.findIndex((arg) => /^-c(?:om\w*|wa)?$/i.test(arg))
  const line =
    index === -1 ? call.args.find((arg) => arg.includes(' ')) : call.args.slice(index + 1).join(' ')
  return line === undefined ? shell(call) : { findings: [], runs: [toShellLine(line)], paths: [] }
}

function toShellLine(shell: string): NestedCommand {
  return { shell }
}

/** True for `+e`, where only options come before. */
function isPlusOption(args: readonly string[], index: number): boolean {
  return /^\+[a-zA-Z]/.test(args[index] ?? '') && args.slice(0, index).every((arg) => /^[-+]/.test(arg))
}

/** `eval` and the like: the words are a line. */
const evaluate: ProgramClassifier = ({ args }) => {
  const words = args[0] === '--' ? args.slice(1) : args
  return { findings: [], runs: [{ shell: words.join(' ') }], paths: [] }
}

/** Runs a file in this shell. */
const source: ProgramClassifier = ({ args, stdin }) => {
  const [file = ''] = args
  if (isStream(file)) return classifyStream(file, stdin, toShellLine)
  return {
    findings: args.every(isLiteral)
      ? [createFinding('mutating', 'runs a script')]
      : createUnseenFindings('a script'),
  }
}

const trap: ProgramClassifier = ({ args }) => {
  const [first = '', second] = args.filter((arg) => arg !== '--')
  return second === undefined || first === '-' ? READS : { findings: [], runs: [{ shell: first }], paths: [] }
}

const alias: ProgramClassifier = ({ args }) => ({
  findings: [],
  runs: args.flatMap((arg) => (arg.includes('=') ? [{ shell: arg.slice(arg.indexOf('=') + 1) }] : [])),
  paths: [],
})

/** True for code by its address, or from a registry. */
function isFetched(word: string): boolean {
  return /^(?:https?|npm|jsr):/.test(word)
}

const javaScript = createInterpreter({
  code: '-e --eval -p --print -pe',
  values: '-r --require --import --loader -C --conditions --input-type',
  infoOptions: '-v --version -h --help',
})

const php = createInterpreter({
  code: '-r --run -B --process-begin -R --process-code -E --process-end',
  values: '-d -c -f -z -S -t',
  infoOptions: '-v --version -m -i',
})

const DENO_FETCHES =
  /^(?:add|install|i|upgrade|cache|outdated|update|publish|deploy|jupyter|audit|x|remove-cache|approve-scripts)$/
const denoCode = createInterpreter({
  code: '--eval -e -p --print',
  values: '',
  infoOptions: '-V --version --help',
})

/** Code comes after `eval`, over standard input after `run -`, from a file, or by its address. */
const deno: ProgramClassifier = (call) => {
  const [verb = '', ...args] = call.args
  if (verb === 'eval')
    return { ...createEffect('mutating', RUNS_CODE), runs: [toCode(args.join(' '))], paths: [] }
  const isFetching = DENO_FETCHES.test(verb) || call.args.some(isFetched)
  const effect = /^(?:run|repl)$/.test(verb)
    ? denoCode({ ...call, args })
    : createEffect('mutating', RUNS_CODE)
  return { ...effect, findings: [...effect.findings, ...(isFetching ? [createFinding('networked')] : [])] }
}

/** Programs that run code from their arguments or input. */
export const interpreters: ProgramTable = {
  ...createAliases(
    'sh bash dash zsh ksh mksh ash yash rbash csh tcsh xonsh elvish rc osh ysh posh oksh loksh lksh pdksh sash hush static-sh bash-static',
    shell,
  ),
  ...createAliases('fish nu', newerShell),
  ...createAliases('pwsh powershell', powerShell),
  ...createAliases('eval', evaluate),
  ...createAliases('source .', source),
  ...createAliases('node nodejs', javaScript),
  ...createAliases('tsx ts-node', javaScript),
  deno,
  ...createAliases('python python2 pypy pypy3 ipython', python),
  ...createAliases(
    'ruby irb',
    createInterpreter({ code: '-e', values: '-r -I -C', infoOptions: '-v --version -h --help' }),
  ),
  ...createAliases(
    'perl',
    createInterpreter({ code: '-e -E', values: '-M -m -I', infoOptions: '-v --version -V' }),
  ),
  ...createAliases('php', (call) =>
    call.args.some((arg) => /^(?:-S|--server$)/.test(arg))
      ? { findings: [createFinding('networked')] }
      : php(call),
  ),
  ...createAliases('lua luajit', createInterpreter({ code: '-e', values: '-l', infoOptions: '-v' })),
  ...createAliases(
    'Rscript R julia elixir osascript guile racket groovy scala swift ghci gnuplot octave octave-cli tclsh wish expect m4 dc erl raku crystal ocaml clojure clj bb sbcl clisp janet fennel nim jshell kotlin gjs qjs maxima gp',
    createInterpreter({
      code: '-e --eval -eval --execute -E -c --expression --batch-string -x',
      values: '-l',
      infoOptions: '--version',
    }),
  ),
  ...createAliases('java dotnet mono wasmtime wasmer', ({ args }) =>
    /^--?version$/.test(args[0] ?? '') ? READS : createEffect('mutating', RUNS_CODE),
  ),
  trap,
  alias,
}
