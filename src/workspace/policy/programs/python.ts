import { UNKNOWN } from '../shell/unknown.ts'
import { RUNS_CODE, toCode } from './fed-code.ts'
import { createInterpreter } from './interpreter.ts'
import { getValues, parseArguments, toOptionSet } from './options.ts'
import {
  createEffect,
  createFinding,
  type Invocation,
  type ProgramClassifier,
  type ProgramEffect,
} from './program.ts'

/** Letters without a value, the first one that takes one, and the value if it is attached. */
const LETTERS = /^-[^cmWX]*([cmWX])(.*)$/s
const pythonCode = createInterpreter({
  code: '-c',
  values: '-W -X --check-hash-based-pycs',
  infoOptions: '-V --version -h --help',
})

/** Modules that run the rest of their line: another module, a script, or code. */
const RUNNERS =
  /^(?:cProfile|profile|pdb|trace|runpy|coverage|timeit|debugpy|scalene|viztracer|pyinstrument)$/
const RUNNER_VALUES = toOptionSet('-s --setup -c --command -o -n -r')
/** Modules of Python that serve or reach the network. */
const SERVERS = /^(?:http\.server|smtpd|xmlrpc\.server|pydoc|webbrowser|ensurepip|telnetlib|ftplib)$/

/** Python, which runs code, a script, or with `-m` a module. */
export const python: ProgramClassifier = (call) => {
  const words = findModule(call.args)
  if (words === undefined) return pythonCode(call)
  const [module = UNKNOWN, ...args] = words
  if (RUNNERS.test(module)) return classifyModuleRunner(call, args)
  if (SERVERS.test(module))
    return { findings: [createFinding('networked'), createFinding('mutating', RUNS_CODE)], paths: call.args }
  return { ...createEffect('mutating', RUNS_CODE), runs: [{ argv: [module, ...args], stdin: call.stdin }] }
}

/** Returns the module that `-m` names, with the words after it, which belong to it; undefined without that option. */
function findModule(args: readonly string[]): readonly string[] | undefined {
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? ''
    // A script or code ends the options: what follows is for its own use.
    if (!arg.startsWith('-') || arg === '-' || arg === '--') return undefined
    if (arg === '--check-hash-based-pycs') index++
    if (arg.startsWith('--')) continue
    const [, letter, attachedValue = ''] = arg.match(LETTERS) ?? []
    const rest = args.slice(index + 1)
    if (letter === 'c') return undefined
    if (letter === 'm') return attachedValue === '' ? rest : [attachedValue, ...rest]
    if (letter !== undefined && attachedValue === '') index++
  }
  return undefined
}

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
