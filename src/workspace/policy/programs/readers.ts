import { isPlainName } from '../shell/arithmetic.ts'
import { getValues, hasOption, parseArguments, toOptionSet } from './options.ts'
import {
  createAliases,
  createEffect,
  createFixedPrograms,
  createUnseenFindings,
  filterSystemPatterns,
  type Invocation,
  type ProgramClassifier,
  type ProgramTable,
  READS,
} from './program.ts'

/** Arguments are words, not files. */
const sayer: ProgramClassifier = ({ args }) => ({ ...READS, paths: filterSystemPatterns(args) })

/** Options by which programs that read run another one, which is classified by itself. */
const RUNS = '--vcs --pager --pre --hostname-bin --compress-program --extract-with'
const RUN_VALUES = toOptionSet(RUNS)

/** Reads files. */
const reader: ProgramClassifier = ({ args }) => {
  const runs = getValues(parseArguments(args, RUN_VALUES), RUNS).map((shell) => ({ shell }))
  return runs.length === 0 ? READS : { ...READS, runs }
}

/** The delimiter is a word: `-d/`. */
const cut: ProgramClassifier = ({ args }) => {
  const { operands } = parseArguments(
    args,
    toOptionSet('-d --delimiter -f -c -b --fields --output-delimiter'),
  )
  return { ...READS, paths: operands }
}

const GREP_VALUES = toOptionSet(
  '-e --regexp -f --file -m -A -B -C -d -D --include --exclude --exclude-dir --pager --filter --output',
)
const RG_VALUES = toOptionSet(
  '-e --regexp -f --file -m -A -B -C -g --glob --iglob -t -T --type -r --replace -j -M --sort --max-depth --pre --hostname-bin --ignore-file',
)

/** The first operand is a pattern unless an option gives one. */
const grep: ProgramClassifier = ({ program, args }) => {
  const sorted = parseArguments(args, program === 'rg' ? RG_VALUES : GREP_VALUES)
  const hasPattern = hasOption(sorted, '-e --regexp -f --file --files')
  const paths = [
    ...getValues(sorted, '-f --file --ignore-file --path-to-ignore'),
    ...sorted.operands.slice(hasPattern ? 0 : 1),
  ]
  const pagers = getValues(sorted, '--pager --view').map((shell) => ({ shell }))
  // Older versions of ack evaluate the output format as an expression.
  const hasExpression = getValues(sorted, '--output').some((text) => /@\{|`|\$\(|\$\{\\/.test(text))
  const filters = getValues(sorted, '--filter').flatMap((value) => value.split(','))
  return {
    findings: [...READS.findings, ...(hasExpression ? createUnseenFindings('an expression') : [])],
    paths,
    runs: [
      ...getValues(sorted, '--pre --hostname-bin').map((program) => ({ argv: [program, '\0'] })),
      ...pagers,
      // Suffixes of file names come before the colon.
      ...filters.map((filter) => ({ shell: filter.slice(filter.indexOf(':') + 1) })),
    ],
  }
}

/** Expressions with which a filter reads more than its operands. */
const USES_FILES = /\b(?:import|include|load\w*|strload)\b/
const JQ_VALUES = toOptionSet('--arg --argjson --indent -f --from-file --slurpfile --rawfile -L')
/** Some options take a name and then a value, so the operands may include a value besides the filter and the files. */
const jq: ProgramClassifier = ({ program, args }) => {
  const sorted = parseArguments(args, JQ_VALUES)
  const named = args.flatMap((arg, index) =>
    /^--(?:slurpfile|rawfile)$/.test(arg) ? args.slice(index + 2, index + 3) : [],
  )
  const files = [...named, ...sorted.operands.slice(hasOption(sorted, '-f --from-file') ? 0 : 1)]
  // A verb, or the value of an option, may precede the filter: any of these words may be it.
  const filters = [...sorted.operands, ...getValues(sorted, '--expression')]
  const used = filters
    .filter((filter) => USES_FILES.test(filter))
    .flatMap((filter) => [...filter.matchAll(/"([^"]*)"/g)].map(([, file = '']) => file))
  return {
    findings: [
      ...READS.findings,
      ...(program === 'yq' && filters.some((filter) => /\bsystem\s*\(/.test(filter))
        ? createUnseenFindings('a program')
        : []),
    ],
    paths: [...files, ...used, ...getValues(sorted, '-f --from-file -L')],
  }
}

/** `[ -f path ]`; other operands are words, except names of variables, which are evaluated. */
const test: ProgramClassifier = ({ args }) => ({
  ...(args.every((arg, index) => !/^-[vR]$/.test(args[index - 1] ?? '') || isPlainName(arg))
    ? READS
    : createEffect('mutating', 'names a variable by an expression, which the shell evaluates')),
  runs: args.filter((arg) => /\$\(|`/.test(arg)).map((text) => ({ text })),
  paths: args.filter((_arg, index) => /^-[abcdefghkLprsSuwxGNO]$|^-[no]t$|^-ef$/.test(args[index - 1] ?? '')),
})

/** `uniq in out` writes. */
const uniq: ProgramClassifier = ({ args }) =>
  parseArguments(args, toOptionSet('-f -s -w')).operands.length > 1 ? createEffect('mutating') : READS

/** A number without a plus is a time to set the clock to. */
const date: ProgramClassifier = ({ args }) => ({
  ...(hasOption(parseArguments(args), '-s --set') || isClockSet(args)
    ? createEffect('host_escape_risk', 'sets the clock of this machine')
    : READS),
  paths: args.filter((arg) => !arg.startsWith('+')),
})

function isClockSet(args: readonly string[]): boolean {
  const { operands } = parseArguments(
    args,
    toOptionSet('-d --date -f --file -r --reference -I --rfc-3339 -v'),
  )
  // On macOS `-j` only prints.
  return !args.includes('-j') && operands.some((word) => /^\d{8,}/.test(word))
}

/** Matches `-x` of fd among letters without a value: `-tx` searches for programs. */
const FD_EXEC = /^(?:--exec(?:-batch)?(?:=(.*))?|-[^-dEteSocjC]*?[xX](.*))$/s

const FD_PLACES = '-C --base-directory --search-path --ignore-file'
const FD_VALUES = toOptionSet(`${FD_PLACES} -d -E -t -e -S -o -c -j --exclude --extension --type --max-depth`)

/** Returns the paths to search: after the pattern, or from options. */
function listFdPaths(args: readonly string[]): string[] {
  const sorted = parseArguments(args, FD_VALUES)
  return [...sorted.operands.slice(1), ...getValues(sorted, FD_PLACES)]
}

/** Runs the words after `-x`, up to a `;`, for each match. */
const fd: ProgramClassifier = ({ args }: Invocation) => {
  const start = args.findIndex((arg) => FD_EXEC.test(arg))
  if (start === -1) return { ...READS, paths: listFdPaths(args) }
  const [, long = '', short = ''] = args[start]?.match(FD_EXEC) ?? []
  const end = args.indexOf(';', start)
  const command = [long || short, ...args.slice(start + 1, end === -1 ? undefined : end)]
  const { runs = [], paths = [] } =
    end === -1 ? READS : fd({ program: 'fd', args: args.slice(end + 1), stdin: '' })
  return {
    ...READS,
    paths: [...listFdPaths(args.slice(0, start)), ...paths],
    runs: [{ argv: [...command.filter((word) => word !== ''), '\0'] }, ...runs],
  }
}

const XXD_VALUES = toOptionSet('-l -len -s -seek -skip -c -cols -g -groupsize -o -offset -n -name')

/** False for `-ps` and its like, each of which is one option of xxd. */
function isNotPlain(arg: string): boolean {
  return !/^-(?:ps|p|plain|postscript)$/.test(arg)
}

/** Programs that read and print. */
export const readers: ProgramTable = {
  ...createAliases(
    'echo true false : expr seq basename dirname tr yes sleep exit return break continue shift jobs type times umask numfmt factor arch uname whoami id groups nproc tty logname hostid locale cal uptime free w who users getconf',
    sayer,
  ),
  ...createAliases(
    'cat head tail wc nl od hexdump strings stat ls dir vdir du df cmp diff diff3 comm join paste fold fmt column rev tac expand unexpand basenc md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum md5 shasum readlink realpath pwd dirs pathchk look zcat bzcat xzcat zstdcat exa eza lsd bat colordiff delta hexyl dust nm objdump readelf size otool which whereis whatis apropos printenv tsort pr sloccount ps pgrep pstree pidof lsblk lscpu lsmem netstat zipinfo tokei bc vmstat iostat mpstat sort shuf tree scc base64 base32 file cloc ptx lsof stty ss',
    reader,
  ),
  ...createAliases('grep egrep fgrep rg zgrep ag ack ugrep', grep),
  ...createAliases('jq yq gojq', jq),
  ...createAliases('test [', test),
  ...createAliases('fd fdfind', fd),
  ...createFixedPrograms('ldd', 'mutating', 'may run the program that it inspects'),
  uniq,
  date,
  xxd: ({ args }) =>
    parseArguments(args.filter(isNotPlain), XXD_VALUES).operands.length > 1
      ? createEffect('mutating')
      : READS,
  hostname: ({ args }) =>
    parseArguments(args).operands.length > 0
      ? createEffect('host_escape_risk', 'renames this machine')
      : READS,
  cut,
}
