import { UNKNOWN } from '../shell/unknown.ts'
import { classifyStream, RUNS_CODE, toCode } from './fed-code.ts'
import { getValues, parseArguments, toOptionSet } from './options.ts'
import {
  createAliases,
  createEffect,
  createFinding,
  type Invocation,
  isStream,
  type ProgramClassifier,
  type ProgramEffect,
  type ProgramTable,
  READS,
} from './program.ts'
import { IGNORING_HELP } from './queries.ts'
import { shells } from './shells.ts'

/** Options of an interpreter, by their kind. */
interface Language {
  /** Options whose value is code. */
  readonly code: string
  /** Options that take another value. */
  readonly values: string
  /** Options that, given alone, print information about the interpreter. */
  readonly infoOptions: string
}

/** Creates an interpreter of another language: its code is scanned for plain hints. */
function createInterpreter({ code, values, infoOptions }: Language): ProgramClassifier {
  const takesValue = toOptionSet(`${code} ${values}`)
  const infoSet = toOptionSet(infoOptions)
  return ({ args, stdin }) => {
    const sorted = parseArguments(args, takesValue)
    const texts = getValues(sorted, code)
    if (texts.length > 0) {
      const runs = [...texts, ...getValues(sorted, '-M -r --import')].map(toCode)
      return { ...createEffect('mutating', RUNS_CODE), runs, paths: excludeTexts(args, texts) }
    }
    if (args.length === 1 && infoSet.has(args[0] ?? '')) return READS
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
  if (RUNNERS.test(module)) return classifyModuleRunner(call, args)
  if (SERVERS.test(module))
    return { findings: [createFinding('networked'), createFinding('mutating', RUNS_CODE)], paths: call.args }
  return { ...createEffect('mutating', RUNS_CODE), runs: [{ argv: [module, ...args], stdin: call.stdin }] }
}
/** Modules that run the rest of their line: another module, a script, or code. */
const RUNNERS =
  /^(?:cProfile|profile|pdb|trace|runpy|coverage|timeit|debugpy|scalene|viztracer|pyinstrument)$/
const RUNNER_VALUES = toOptionSet('-s --setup -c --command -o -n -r')

function classifyModuleRunner({ stdin }: Invocation, args: readonly string[]): ProgramEffect {
  const index = args.indexOf('-m')
  const sorted = parseArguments(args, RUNNER_VALUES)
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

function excludeTexts(args: readonly string[], texts: readonly string[]): string[] {
  return args.filter((arg) => !texts.some((text) => arg.endsWith(text)))
}

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
  ...shells,
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
    'Rscript R julia elixir osascript guile racket groovy scala swift ghci gnuplot octave octave-cli expect m4 dc raku crystal ocaml clojure clj bb sbcl clisp janet fennel nim jshell kotlin gjs qjs maxima gp',
    createInterpreter({
      code: '-e --eval -eval --execute -E -c --expression --batch-string -x',
      values: '-l',
      infoOptions: '--version',
    }),
  ),
  // They ignore options that they do not know, `--help` included, and run their input.
  ...createAliases(IGNORING_HELP, createInterpreter({ code: '-c -e -eval', values: '', infoOptions: '' })),
  ...createAliases('java dotnet mono wasmtime wasmer', ({ args }) =>
    /^--?version$/.test(args[0] ?? '') ? READS : createEffect('mutating', RUNS_CODE),
  ),
}
