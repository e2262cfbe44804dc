import { isLiteral, UNKNOWN } from '../shell/word.ts'
import { hasOption, sortOut, valued, valuesOf } from './options.ts'
import { effect, finding, type Nested, named, type Program, type Programs, READS, unseen } from './program.ts'

const RUNS_CODE = 'runs code that policy does not see through'

/** How an interpreter takes its code. */
interface Language {
  /** Options whose value is code. */
  readonly code: string
  /** Options that take another value. */
  readonly values: string
  /** Options after which it only tells about itself. */
  readonly tells: string
}

/** A language other than the shell's: code is searched for what it is plainly about. */
function interpreter({ code, values, tells }: Language): Program {
  const takesValue = valued(`${code} ${values}`)
  return ({ args, stdin }) => {
    const sorted = sortOut(args, takesValue)
    const texts = valuesOf(sorted, code)
    if (texts.length > 0)
      return { ...effect('mutating', RUNS_CODE), runs: texts.map(codeOf), paths: others(args, texts) }
    if (hasOption(sorted, tells) && sorted.operands.length === 0) return READS
    const [script] = sorted.operands
    if (hasOption(sorted, '-m') || (script !== undefined && script !== '-'))
      return effect('mutating', RUNS_CODE)
    return fromInput(stdin, codeOf)
  }
}

function codeOf(code: string): Nested {
  return { code }
}

function others(args: readonly string[], texts: readonly string[]): string[] {
  return args.filter((arg) => !texts.some((text) => arg.endsWith(text)))
}

/** Code that comes over standard input: of a here-document, of a pipe, or of whoever types. */
function fromInput(stdin: string | undefined, nested: (text: string) => Nested) {
  if (stdin === undefined) return { findings: [finding('interactive'), finding('mutating', RUNS_CODE)] }
  if (!isLiteral(stdin)) return { findings: unseen('what it reads') }
  return { ...effect('mutating', RUNS_CODE), runs: [nested(stdin)] }
}

const SHELL_VALUES = valued('-o +o -O +O --rcfile --init-file')

/** A shell: a script of its own, a line after `-c`, or what it reads. */
const shell: Program = ({ args, stdin }) => {
  const sorted = sortOut(args, SHELL_VALUES)
  if (hasOption(sorted, '--version --help')) return READS
  const [first, ...parameters] = sorted.operands
  const paths = [...parameters, ...valuesOf(sorted, '--rcfile --init-file')]
  const isCommand = [...sorted.options.keys()].some((name) => /^[-+][a-zA-Z]*c/.test(name))
  const base = hasOption(sorted, '-i') ? [finding('interactive')] : []
  if (isCommand) return { findings: base, runs: [{ shell: first ?? UNKNOWN }], paths }
  const isReading = first === undefined || hasOption(sorted, '-s')
  if (isReading) return { ...fromInput(stdin, (text) => ({ shell: text })), paths }
  const findings = [...base, finding('mutating', 'runs a script')]
  // A script whose name is only known when it runs may have none: then it is what the shell reads.
  const runs = isLiteral(first) || stdin === undefined ? [] : [{ shell: stdin }]
  return { findings, runs, paths: [first, ...paths] }
}

/** `eval` and the like: the words are a line. */
const evaluate: Program = ({ args }) => ({ findings: [], runs: [{ shell: args.join(' ') }], paths: [] })

/** Runs a file in this shell. */
const source: Program = ({ args }) => ({
  findings: args.every(isLiteral) ? [finding('mutating', 'runs a script')] : unseen('a script'),
})

const trap: Program = ({ args }) => {
  const [first = '', second] = args.filter((arg) => arg !== '--')
  return second === undefined || first === '-' ? READS : { findings: [], runs: [{ shell: first }], paths: [] }
}

const alias: Program = ({ args }) => ({
  findings: [],
  runs: args.flatMap((arg) => (arg.includes('=') ? [{ shell: arg.slice(arg.indexOf('=') + 1) }] : [])),
  paths: [],
})

const javaScript = interpreter({
  code: '-e --eval -p --print -pe',
  values: '-r --require --import --loader -C --conditions --input-type',
  tells: '-v --version -h --help',
})

/** Programs that run code they are given. */
export const interpreters: Programs = {
  ...named('sh bash dash zsh ksh mksh ash fish yash rbash csh tcsh', shell),
  ...named('eval', evaluate),
  ...named('source .', source),
  ...named('node nodejs', javaScript),
  ...named('tsx ts-node', javaScript),
  deno: (call) =>
    call.args[0] === 'eval'
      ? { ...effect('mutating', RUNS_CODE), runs: [codeOf(call.args.slice(1).join(' '))], paths: [] }
      : effect('mutating', RUNS_CODE),
  ...named(
    'python python2 pypy pypy3 ipython',
    interpreter({ code: '-c', values: '-W -X -m --check-hash-based-pycs', tells: '-V --version -h --help' }),
  ),
  ...named('ruby irb', interpreter({ code: '-e', values: '-r -I -C', tells: '-v --version -h --help' })),
  ...named('perl', interpreter({ code: '-e -E', values: '-M -m -I', tells: '-v --version -V' })),
  ...named('php', interpreter({ code: '-r -B -R -E', values: '-d -c -f -z', tells: '-v --version -m -i' })),
  ...named('lua luajit', interpreter({ code: '-e', values: '-l', tells: '-v' })),
  ...named(
    'Rscript R julia elixir osascript guile racket groovy scala swift ghci',
    interpreter({ code: '-e --eval --execute -E', values: '-l', tells: '--version' }),
  ),
  ...named('java dotnet mono wasmtime wasmer', ({ args }) =>
    /^--?version$/.test(args[0] ?? '') ? READS : effect('mutating', RUNS_CODE),
  ),
  trap,
  alias,
}
