import { isListed } from './name-index.ts'
import { createEffect, type ProgramClassifier, type ProgramEffect, READS } from './program.ts'

/** Names of programs, separated by spaces, and a pattern of words. */
type PatternTable = readonly (readonly [names: string, words: string])[]

/** Word that is neither an option nor an address, and an option that is a word of its own. */
const NAME = String.raw`(?: \w[\w@.,/+*-]*| \.[\w./-]*)`
const SWITCH = String.raw`(?: --?[a-z][\w-]*(?:=[\w.,/-]+)?)`
const IN_DIRECTORY = String.raw`(?:-chdir=[\w./-]+ )?`
/** Options of `ip` that format its output: `-b` runs commands from a file. */
const DISPLAY_OPTIONS = '(?:-(?:[46cdhjoprs]|br|brief|color|details|json|oneline|pretty|stats) )*'
const OUTPUT = String.raw`(?: (?:-o|--output)[ =]\w+)?`

/** Calls that neither change nor reach anything: patterns of all their words, by program. */
const READING: PatternTable = [
  ['curl wget ssh psql mysql mariadb nmap ping mtr tmux sudo', '-V'],
  ['docker podman nerdctl dig redis-cli aria2c', '-v'],
  ['docker podman', '(?:compose|buildx) version'],
  ['kubectl', `version${OUTPUT} --client(?:=true)?${OUTPUT}|completion \\w+|options`],
  ['helm', `version(?: --short)?|completion \\w+|lint${NAME}*(?: --strict| --quiet)?`],
  [
    'terraform tofu',
    `-?version|${IN_DIRECTORY}fmt(?: -recursive| -diff)* -check(?: -recursive| -diff)*${NAME}*`,
  ],
  ['gh glab', `version|completion(?: -s)? \\w+|help${NAME}*`],
  ['gcloud az pulumi flyctl fly heroku rclone wrangler doctl oras ngrok cloudflared tailscale', 'version'],
  [
    'nvm fnm volta asdf mise rustup pyenv rbenv sdk pipx',
    `ls|list|current${NAME}?|versions?|which${NAME}|(?:toolchain|component|target) list(?: --installed)?`,
  ],
  ['dpkg', `-[lLsS]${NAME}*|--print-architecture`],
  ['rpm', `-q[ailf]*${NAME}*`],
  ['apt', `(?:list|show|policy)(?: --installed| --upgradable|${NAME})*`],
  ['brew', `(?:list|ls|leaves|config|--prefix|--cellar)${NAME}*`],
  ['ip', `${DISPLAY_OPTIONS}(?:a|addr|address|l|link|r|route)(?: show| list| ls)?`],
  ['openssl', 'version(?: -[a-z])*'],
  ['tsc tsgo eslint prettier vitest jest vite rollup webpack', '-v|-h'],
  ['mount ifconfig', ''],
  ['sysctl', '(?:-n )?[a-z][\\w.]*'],
]

/** Calls with effects in the workspace alone. */
const STAYING: PatternTable = [
  ['terraform tofu', `${IN_DIRECTORY}(?:fmt|validate)(?:${SWITCH}|${NAME})*`],
  ['helm', `create${NAME}|package${NAME}|template${NAME}? \\.[\\w./-]*(?: -f${NAME})*`],
  ['ansible-playbook', `--syntax-check${NAME}+`],
  ['nvm fnm', `use${NAME}?`],
  ['pyenv rbenv asdf mise', `local${NAME}+|rehash|reshim`],
  ['rustup', `show${NAME}?`],
]

const STAYS = createEffect('mutating')

/** Options with which any program prints information about itself. */
const ABOUT_ITSELF = /^--(?:version|help)$/

export function isAboutItself(args: readonly string[]): boolean {
  return args.length === 1 && ABOUT_ITSELF.test(args[0] ?? '')
}

/** Wraps a program: calls in the tables of queries have the effects listed there. */
export function withQueries(name: string, program: ProgramClassifier): ProgramClassifier {
  if (HELPLESS.has(name)) return program
  const [reading, staying] = [findPattern(READING, name), findPattern(STAYING, name)]
  return (call) => classifyQuery(call.args, reading, staying) ?? program(call)
}

/** Programs that ignore `--help`, and run the code on their standard input. */
export const IGNORING_HELP = 'tclsh wish erl'
/** Some versions of csh ignore it as well. */
const HELPLESS: ReadonlySet<string> = new Set(`${IGNORING_HELP} csh`.split(' '))

function classifyQuery(
  args: readonly string[],
  reading?: RegExp,
  staying?: RegExp,
): ProgramEffect | undefined {
  if (isAboutItself(args)) return READS
  if (reading === undefined && staying === undefined) return undefined
  const words = args.join(' ')
  if (reading?.test(words)) return READS
  return staying?.test(words) ? STAYS : undefined
}

/** Joins all patterns of a program into one; undefined if it has none. */
function findPattern(table: PatternTable, name: string): RegExp | undefined {
  const patterns = table.filter(([names]) => isListed(name, names)).map(([, words]) => `^(?:${words})$`)
  return patterns.length === 0 ? undefined : new RegExp(patterns.join('|'))
}
