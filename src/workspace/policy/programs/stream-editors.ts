import { UNKNOWN } from '../shell/unknown.ts'
import { getValues, parseArguments, toOptionSet } from './options.ts'
import {
  createAliases,
  createEffect,
  createFinding,
  createUnseenFindings,
  isStandardInput,
  isStream,
  type NestedCommand,
  type ProgramClassifier,
  type ProgramTable,
} from './program.ts'

/** Commands of sed that print, delete or substitute, each with its addresses. Any other may write or run. */
const ADDRESS = String.raw`(?:\d+(?:~\d+)?|\$|/(?:\\.|[^/\\\n])*/I?)`
const RANGE = String.raw`(?:${ADDRESS}(?:,(?:${ADDRESS}|[+~]\d+))?\s*)?!?\s*`
const SUBSTITUTION = String.raw`[sy]([^\w\s\\])(?:\\.|(?!\1)[^\\\n])*\1(?:\\.|(?!\1)[^\\\n])*\1[gpiI0-9]*`
const SIMPLE_COMMAND = new RegExp(
  String.raw`^[\s}]*(?:${RANGE}\{\s*)*${RANGE}(?:[pdqQ=lnNDPhHgGxF]|: ?\w+|[btT] ?\w*|${SUBSTITUTION}|)[\s}]*$`,
)
/** File or command of the shell right after the letter that uses it. */
const FILE_OR_COMMAND =
  /(?:(?:^|[;{}\n])\s*\\([^\\\n])(?:\\.|(?!\1)[^\\\n])*\1I?\s*|^|[\s;{}/0-9$!gpI])([wWrRe])\s*([^\s;}][^\n;}]*)/g
/** `e` alone, or as a flag of a substitution: sed runs the pattern space as a line. */
const RUNS_WHAT_IT_READS = new RegExp(
  String.raw`(?:^|[;{}!\n]|${ADDRESS})\s*e\s*(?:$|[;}\n])|s([^\w\s\\])(?:\\.|(?!\1)[^\\\n])*\1((?:\\.|(?!\1)[^\\\n])*)\1[gpiImM0-9]*e`,
)
const ODD_SUBSTITUTION = /^[^a-zA-Z]*s([a-zA-Z ])(?:(?!\1).)+\1(?:(?!\1).)*\1[gpiImM0-9]*e/
/** The same after an address with custom delimiters. */
const RUNS_AFTER_ODD_ADDRESS = /^\s*\\([^\\\n])(?:\\.|(?!\1)[^\\\n])*\1I?\s*!?\s*e\s*(?:$|[;}\n])/
/** Limit on the length of a script: patterns with backreferences are slow. */
const LONGEST_SCRIPT = 4096
const SED_VALUES = toOptionSet('-e --expression -f --file -l --line-length')

const sed: ProgramClassifier = ({ args, stdin }) => {
  const sorted = parseArguments(args, SED_VALUES)
  const files = getValues(sorted, '-f --file')
  const inputs = files.some(isStream) ? [stdin ?? ''] : []
  const given = [...getValues(sorted, '-e --expression'), ...inputs]
  const hasScript = given.length > 0 || files.length > 0
  const scripts = hasScript ? given : sorted.operands.slice(0, 1)
  const isLong = scripts.some(({ length }) => length > LONGEST_SCRIPT)
  const isSimple = files.length === 0 && !isLong && scripts.every(isSimpleScript)
  const used = isSimple || isLong ? [] : scripts.flatMap((script) => [...script.matchAll(FILE_OR_COMMAND)])
  return {
    findings: [
      createFinding('read_only'),
      ...(isSimple ? [] : [createFinding('mutating', 'has a script that may write files or run commands')]),
      ...(isLong || scripts.some(isRunning) || scripts.includes(UNKNOWN) || files.some(isOtherStream)
        ? createUnseenFindings('what it reads')
        : []),
    ],
    runs: used.flatMap(([, , letter, word = '']) => (letter === 'e' ? [{ shell: word }] : [])),
    paths: [...sorted.operands.slice(hasScript ? 0 : 1), ...files, ...used.map(([, , , word = '']) => word)],
  }
}

/** True if it may run the pattern space; also with letters and spaces between the parts of a substitution. */
function isRunning(script: string): boolean {
  return [RUNS_WHAT_IT_READS, ODD_SUBSTITUTION, RUNS_AFTER_ODD_ADDRESS].some((pattern) =>
    pattern.test(script),
  )
}

/** True for a sequence of simple commands; a `;` inside a pattern makes it less than simple, which is safe. */
function isSimpleScript(script: string): boolean {
  return isSimpleCommand(script) || script.split(/[;\n]/).every(isSimpleCommand)
}

/** Spaces may stand anywhere, so many of them are slow to match. A label ends at the end of its line. */
function isSimpleCommand(command: string): boolean {
  return SIMPLE_COMMAND.test(command.replaceAll(/\s+/g, (room) => (room.includes('\n') ? '\n' : ' ')))
}

/** True for the end of a pipe that is not standard input: `<(…)`. */
function isOtherStream(file: string): boolean {
  return isStream(file) && !isStandardInput(file)
}

const AWK_VALUES = toOptionSet(
  '-F -v -f --file -i --include -l --load -e --source -E --exec --field-separator --assign',
)
/** Calls with which awk runs commands or reads more than its operands. */
const AWK_REACHES_OUT = /system\s*\(|getline|@(?:include|load)|@\w+\s*\(|\/inet|ARG[VC]\b/

/** Command that is not one plain string: `system(c)`, `c | getline`, `print | c`. */
const AWK_RUNS_UNSEEN =
  /\|&?\s*"(?:[\w.-]*\/)*(?:ba|da|z|k|a)?sh\b|@\w+\s*\(|system\s*\((?!\s*"(?:\\.|[^"\\])*"\s*\))|[^"\s]\s*\|&?\s*getline|[^|]\|&?\s*(?!getline)[^"|&\s]/

const SYSTEM_FILE = /^\w+=(?:~|\.\.|\/(?:etc|home|proc|root|run|srv|sys|tmp|usr|var|Users))\//

/** Before anything is printed, `>` compares and `||` joins conditions. */
function isWritingElsewhere(text: string): boolean {
  const at = text.indexOf('print')
  return at !== -1 && /[|>]/.test(text.slice(at))
}

const awk: ProgramClassifier = ({ args, stdin }) => {
  const sorted = parseArguments(args, AWK_VALUES)
  // `-i inplace` is a library that ships with it: the program is still the first operand.
  const libraries = getValues(sorted, '-i --include -l --load')
  const files = getValues(sorted, '-f --file -E --exec')
  const inputs = files.some(isStream) ? [stdin ?? ''] : []
  const given = [...getValues(sorted, '-e --source'), ...inputs]
  const hasProgram = files.length > 0 || given.length > 0
  // A line that ends in a backslash continues in the next.
  const text = [...given, ...(hasProgram ? [] : sorted.operands.slice(0, 1))]
    .join('\n')
    .replaceAll(/\\\r?\n/g, '')
  const paths = [...sorted.operands.slice(hasProgram ? 0 : 1), ...files, ...libraries]
  const isReading =
    files.length === 0 &&
    libraries.length === 0 &&
    !AWK_REACHES_OUT.test(text) &&
    !isWritingElsewhere(text) &&
    text !== UNKNOWN
  if (isReading) return { ...createEffect('read_only'), paths }
  const runs: NestedCommand[] = [{ code: text }]
  const findings = [createFinding('mutating', 'has a program that may write files or run commands')]
  if (text === UNKNOWN || AWK_RUNS_UNSEEN.test(text) || files.some(isOtherStream))
    findings.push(...createUnseenFindings('a line'))
  // A value may name a file to read or write, if it is plainly a path of the system.
  const assigned = getValues(sorted, '-v --assign').filter((assignment) => SYSTEM_FILE.test(assignment))
  return { findings, paths: [...paths, ...assigned], runs }
}

/** Programs whose first operand is a program of their own language. */
export const streamEditors: ProgramTable = {
  ...createAliases('sed gsed', sed),
  ...createAliases('awk gawk mawk nawk', awk),
}
