import { isPlainName } from '../shell/arithmetic.ts'
import { UNKNOWN } from '../shell/unknown.ts'
import { getValues, parseArguments, toOptionSet } from './options.ts'
import {
  createAliases,
  createFinding,
  createUnseenFindings,
  filterSystemPatterns,
  type Invocation,
  type NestedCommand,
  type ProgramClassifier,
  type ProgramEffect,
  type ProgramTable,
  READS,
} from './program.ts'

const NAMES = createFinding('mutating', 'names a variable by an expression, which the shell evaluates')

/** Classifies a builtin that names variables: `a[$(touch x)]` is a name as well, and runs its command. */
function classifyNames({ args }: Invocation, names: readonly string[]): ProgramEffect {
  return {
    findings: names.every(isPlainName) ? READS.findings : [NAMES],
    paths: filterSystemPatterns(args),
    runs: args.flatMap(findExpansions),
  }
}

/** Creates a builtin that assigns the variables it names, by default to unknown values: `read PATH`. */
function createAssigner(
  listNames: (args: readonly string[]) => readonly string[],
  value = UNKNOWN,
): ProgramClassifier {
  return (call) => {
    const names = listNames(call.args)
    const effect = classifyNames(call, names)
    const settings = names.map((setting): NestedCommand => ({ setting, value }))
    return { ...effect, runs: [...(effect.runs ?? []), ...settings] }
  }
}

/** `declare a=1`. Text in brackets is expanded even if it was quoted: `declare 'a=($(touch x))'`. */
const declareVariables: ProgramClassifier = (call) => {
  const words = call.args.filter((arg) => !arg.startsWith('-'))
  const effect = classifyNames(
    call,
    words.map((word) => (/^\w+\+?=(?!\()/.test(word) ? word.slice(0, word.search(/\+?=/)) : word)),
  )
  const settings = listNameReferences(call.args).map(
    (setting): NestedCommand => ({ setting, value: UNKNOWN }),
  )
  return { ...effect, runs: [...(effect.runs ?? []), ...settings] }
}

const READ_VALUES = toOptionSet('-a -d -i -n -N -p -t -u')
const WAIT_VALUES = toOptionSet('-p')
const PRINTF_VALUES = toOptionSet('-v')
const MAPFILE_VALUES = toOptionSet('-d -n -O -s -u -C -c')

/** Returns the variables that `read` assigns; `-a` names an array. */
function parseReadNames(args: readonly string[]): readonly string[] {
  const sorted = parseArguments(args, READ_VALUES)
  return [...sorted.operands, ...getValues(sorted, '-a')]
}

const ASSIGNED_NUMBER = /(?<!\w)([A-Za-z_]\w*)\s*(?:\[|\+\+|--|(?:[-+*/%&|^]|<<|>>)?=(?!=))/g

/** `let PATH=1` assigns a number, which may be the name of a directory as well. */
function listAssignedNumbers(args: readonly string[]): readonly string[] {
  return args.flatMap((arg) => [...arg.matchAll(ASSIGNED_NUMBER)].map(([, name = '']) => name))
}

/** Only an assignment of a number is known to run nothing. */
const letNumbers: ProgramClassifier = (call) => {
  const { runs = [], ...effect } = classifyNames(call, [])
  const isPlain = call.args.every((arg) => /^(?:[A-Za-z_]\w*\s*=\s*)?-?\d+$/.test(arg))
  const settings = listAssignedNumbers(call.args).map(
    (setting): NestedCommand => ({ setting, value: UNKNOWN }),
  )
  return { ...effect, findings: isPlain ? READS.findings : [NAMES], runs: [...runs, ...settings] }
}

/** After `declare -n y=PATH`, assigning to `y` assigns to PATH. */
function listNameReferences(args: readonly string[]): readonly string[] {
  if (!args.some((arg) => /^-[a-zA-Z]*n/.test(arg))) return []
  return args.flatMap((arg) => arg.match(/^\w+=(\w+)$/)?.slice(1) ?? [])
}

/** Calls a command after every few lines that it reads. */
const mapfile: ProgramClassifier = (call) => {
  const { operands, ...sorted } = parseArguments(call.args, MAPFILE_VALUES)
  const { findings, runs = [] } = createAssigner(() => operands)(call)
  const callbacks = getValues({ operands, ...sorted }, '-C')
  return { findings, paths: [], runs: [...runs, ...callbacks.map((shell) => ({ shell }))] }
}

/** Returns text that a shell expands later. */
function findExpansions(text: string): NestedCommand[] {
  return /\$\(|`/.test(text) ? [{ text }] : []
}

/** Creates a builtin that binds a name or event to a line, if an option says so. */
function createRerouter(options: RegExp): ProgramClassifier {
  return ({ args }) => {
    const index = args.findIndex((arg) => options.test(arg))
    if (index === -1) return { ...READS, paths: [], runs: args.flatMap(findExpansions) }
    return {
      findings: [createFinding('mutating', 'decides what a name runs')],
      // The key comes before the colon.
      runs: args.slice(index + 1, index + 2).map((line) => ({ shell: line.replace(/^"[^"]*":\s*/, '') })),
    }
  }
}

/** With `-k`, every `A=1` of a line is set for its program, wherever it stands. */
const set: ProgramClassifier = ({ args }) => ({
  findings: args.some((arg) => /^-[a-zA-Z]*k|^keyword$/.test(arg))
    ? createUnseenFindings('what is set')
    : READS.findings,
  paths: [],
})

/** Builtins that change nothing but the shell. */
export const builtins: ProgramTable = {
  ...createAliases('export readonly declare local typeset', declareVariables),
  ...createAliases('read', createAssigner(parseReadNames)),
  ...createAliases(
    'getopts',
    createAssigner((args) => args.slice(1, 2)),
  ),
  ...createAliases(
    'wait',
    createAssigner((args) => getValues(parseArguments(args, WAIT_VALUES), '-p')),
  ),
  ...createAliases(
    'printf',
    createAssigner((args) => getValues(parseArguments(args.slice(0, 2), PRINTF_VALUES), '-v')),
  ),
  let: letNumbers,
  // Without a PATH, the shell searches its working directory.
  ...createAliases(
    'unset',
    createAssigner((args) => parseArguments(args).operands, ''),
  ),
  ...createAliases('set', set),
  ...createAliases('mapfile readarray', mapfile),
  ...createAliases('shopt setopt unalias compopt disown suspend bg fg logout popd ulimit clear tput', () => ({
    ...READS,
    paths: [],
  })),
  hash: createRerouter(/^-[a-z]*p/),
  enable: createRerouter(/^-[a-z]*f/),
  bind: createRerouter(/^-[a-z]*[xf]|:/),
  ...createAliases('complete compgen', createRerouter(/^-[a-zA-Z]*[CF]/)),
  ...createAliases('history fc', createRerouter(/^-[a-z]*[wanrse]/)),
}
