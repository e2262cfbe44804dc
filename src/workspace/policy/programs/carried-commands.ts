import { getValues, parseArguments, toOptionSet } from './options.ts'
import type { NestedCommand } from './program.ts'

/** Names that mean a program anywhere among the words of another: no verbs, no everyday words. */
const PROGRAM_NAMES = new Set(
  'curl wget ssh scp sftp rsync nc ncat netcat socat sudo doas sh bash dash zsh ksh env xargs python python3 perl ruby npm npx pnpm pip pip3 git rm'.split(
    ' ',
  ),
)
/** Names that mean a program at the front of a line; alone they are as often a verb: `./dev docker`. */
const LEADING_PROGRAM_NAMES = new Set(
  'docker podman kubectl aws gcloud gh yarn bun node php eval exec'.split(' '),
)

/** Options whose value is text for people, or a pattern to choose tests by. */
const TEXT =
  /^(?:-[tkgm]|--(?:grep|filter|message|title|body|description|test-?name-?pattern|testNamePattern))$/
const CODE = '-e --eval -eval --execute --expr'
const CODE_VALUES = toOptionSet(CODE)

/**
 * Returns commands that an opaque program may run: its last words, a line in one word, or code.
 * It may run none of them; a word that is not plainly the name of a program does not count.
 */
export function findCarriedCommands(args: readonly string[]): NestedCommand[] {
  const start = args.findIndex((arg, index) => PROGRAM_NAMES.has(arg) && index < args.length - 1)
  const runs: NestedCommand[] = start === -1 ? [] : [{ argv: args.slice(start), stdin: '' }]
  for (const [index, arg] of args.entries()) {
    if (arg.includes(' ') && !TEXT.test(args[index - 1] ?? '')) runs.push(...findCarriedLine(arg))
  }
  if (args.some((arg) => arg.startsWith('-e') || arg.startsWith('--e'))) {
    runs.push(...getValues(parseArguments(args, CODE_VALUES), CODE).map((code) => ({ code })))
  }
  return runs
}

/** Finds `'curl x'`, also as the value of an option or a variable. */
function findCarriedLine(arg: string): NestedCommand[] {
  const line = arg.replace(/^[-\w.:]*=/, '')
  const [first = ''] = line.trimStart().split(' ', 1)
  return PROGRAM_NAMES.has(first) || LEADING_PROGRAM_NAMES.has(first) ? [{ maybe: line }] : []
}
