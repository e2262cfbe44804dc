import { getValues, parseArguments, toOptionSet } from './options.ts'
import type { NestedCommand } from './program.ts'

/** Names that mean a program wherever they stand among the words of another: no verbs of anything, no everyday words. */
const PROGRAM_NAMES = new Set(
  'curl wget ssh scp sftp rsync nc ncat netcat socat sudo doas sh bash dash zsh ksh env xargs python python3 perl ruby npm npx pnpm pip pip3 git rm'.split(
    ' ',
  ),
)
/** At the front of a line these mean the program as well; alone they are as often a verb: `./dev docker`. */
const LEADING_PROGRAM_NAMES = new Set(
  'docker podman kubectl aws gcloud gh yarn bun node php eval exec'.split(' '),
)

/** Options whose value is text for people, or a pattern to choose tests by. */
const TEXT =
  /^(?:-[tkgm]|--(?:grep|filter|message|title|body|description|test-?name-?pattern|testNamePattern))$/
const CODE = '-e --eval -eval --execute --expr'
const CODE_VALUES = toOptionSet(CODE)

/**
 * What a program that is not seen through may run: what its words end with, a line that is one of them, or code.
 * It may as well do none of it; what a word is not plainly the name of is left alone.
 */
export function findCarriedCommands(args: readonly string[]): NestedCommand[] {
  const at = args.findIndex((arg, index) => PROGRAM_NAMES.has(arg) && index < args.length - 1)
  const runs: NestedCommand[] = at === -1 ? [] : [{ argv: args.slice(at), stdin: '' }]
  for (const [index, arg] of args.entries()) {
    if (arg.includes(' ') && !TEXT.test(args[index - 1] ?? '')) runs.push(...findCarriedLine(arg))
  }
  if (args.some((arg) => arg.startsWith('-e') || arg.startsWith('--e'))) {
    runs.push(...getValues(parseArguments(args, CODE_VALUES), CODE).map((code) => ({ code })))
  }
  return runs
}

/** `'curl x'`, and as the value of an option or a variable. */
function findCarriedLine(arg: string): NestedCommand[] {
  const line = arg.replace(/^[-\w.:]*=/, '')
  const [first = ''] = line.trimStart().split(' ', 1)
  return PROGRAM_NAMES.has(first) || LEADING_PROGRAM_NAMES.has(first) ? [{ maybe: line }] : []
}
