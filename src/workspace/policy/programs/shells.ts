import { isLiteral, UNKNOWN } from '../shell/unknown.ts'
import { classifyInput, classifyStream, toShellLine } from './fed-code.ts'
import { getValues, parseArguments, toOptionSet } from './options.ts'
import {
  createAliases,
  createFinding,
  createUnseenFindings,
  isStream,
  type ProgramClassifier,
  type ProgramTable,
  READS,
} from './program.ts'
import { parseShellArguments } from './shell-arguments.ts'

/** A shell: a script, a line after `-c`, or its standard input. */
const shell: ProgramClassifier = ({ args, stdin }) => {
  const { letters, files, doubtful, operands } = parseShellArguments(args)
  const [first, ...parameters] = [...doubtful, ...operands]
  const paths = [...parameters, ...files]
  const base = [
    ...(letters.has('i') ? [createFinding('interactive')] : []),
    ...(files.some(isStream) ? createUnseenFindings('what it reads') : []),
  ]
  if (letters.has('c') || letters.has(UNKNOWN)) {
    const lines = [...doubtful, operands[0] ?? UNKNOWN]
    return { findings: base, runs: lines.map(toShellLine), paths: [...operands.slice(1), ...files] }
  }
  if (first === undefined || letters.has('s')) {
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

/** Shells, and builtins that run lines in this one. */
export const shells: ProgramTable = {
  ...createAliases(
    'sh bash dash zsh ksh mksh ash yash rbash csh tcsh xonsh elvish rc osh ysh posh oksh loksh lksh pdksh sash hush static-sh bash-static',
    shell,
  ),
  ...createAliases('fish nu', newerShell),
  ...createAliases('pwsh powershell', powerShell),
  ...createAliases('eval', evaluate),
  ...createAliases('source .', source),
  trap,
  alias,
}
