import { sortOut, valued, valuesOf } from './options.ts'
import type { Nested } from './program.ts'

/** Names that mean a program wherever they stand among the words of another: no verbs of anything, no everyday words. */
const UNMISTAKABLE = new Set(
  'curl wget ssh scp sftp rsync nc ncat netcat socat sudo doas sh bash dash zsh ksh env xargs python python3 perl ruby npm npx pnpm pip pip3 git rm'.split(
    ' ',
  ),
)
/** At the front of a line these mean the program as well; alone they are as often a verb: `./dev docker`. */
const LEADING = new Set('docker podman kubectl aws gcloud gh yarn bun node php eval exec'.split(' '))

/** Options whose value is text for people, or a pattern to choose tests by. */
const TEXT =
  /^(?:-[tkgm]|--(?:grep|filter|message|title|body|description|test-?name-?pattern|testNamePattern))$/
const CODE = '-e --eval -eval --execute --expr'
const CODE_VALUES = valued(CODE)

/**
 * What a program that is not seen through may run: what its words end with, a line that is one of them, or code.
 * It may as well do none of it; what a word is not plainly the name of is left alone.
 */
export function carried(args: readonly string[]): Nested[] {
  const at = args.findIndex((arg, index) => UNMISTAKABLE.has(arg) && index < args.length - 1)
  const runs: Nested[] = at === -1 ? [] : [{ argv: args.slice(at), stdin: '' }]
  for (const [index, arg] of args.entries()) {
    if (arg.includes(' ') && !TEXT.test(args[index - 1] ?? '')) runs.push(...lineIn(arg))
  }
  if (args.some((arg) => arg.startsWith('-e') || arg.startsWith('--e'))) {
    runs.push(...valuesOf(sortOut(args, CODE_VALUES), CODE).map((code) => ({ code })))
  }
  return runs
}

/** `'curl x'`, and as the value of an option or a variable. */
function lineIn(arg: string): Nested[] {
  const line = arg.replace(/^[-\w.:]*=/, '')
  const [first = ''] = line.trimStart().split(' ', 1)
  return UNMISTAKABLE.has(first) || LEADING.has(first) ? [{ maybe: line }] : []
}
