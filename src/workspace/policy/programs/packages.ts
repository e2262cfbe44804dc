import { UNKNOWN } from '../shell/unknown.ts'
import { findCarriedCommands } from './carried-commands.ts'
import { classifyEachReading } from './classify-each-reading.ts'
import { type Arguments, getValues, hasOption, parseArguments, toOptionSet } from './options.ts'
import {
  createAliases,
  createEffect,
  createFinding,
  createUnseenFindings,
  type NestedCommand,
  type ProgramClassifier,
  type ProgramEffect,
  type ProgramTable,
  READS,
} from './program.ts'

const FETCHES: ProgramEffect = {
  findings: [createFinding('networked', 'fetches packages'), createFinding('mutating')],
}
const RUNS_SCRIPTS = createEffect('mutating', 'runs scripts of the project')
const PUBLISHES: ProgramEffect = { findings: [createFinding('networked', 'talks to the registry')] }
const LOSES = createEffect('destructive')

const VALUES = toOptionSet(
  '--prefix -C --dir --cwd -w --workspace --filter -F --registry --userconfig --cache -p --package -c --call --script-shell --shell --editor --browser --viewer',
)

const FETCHING =
  /^(?:i|in|ins|inst|install|isntall|add|ci|clean-install|install-test|install-ci-test|clean-install-test|it|cit|sit|update|up|upgrade|udpate|dedupe|ddp|import|create|dlx|fetch|sync|lock|get|download|tool|global|self|self-update|require|global-add|env|setup)$/
const RUNNING =
  /^(?:run|run-script|rum|urn|test|t|tst|start|stop|restart|exec|x|build|dev|lint|rebuild|rb|pack|link|ln|version|pkg|set|init|config|c|prepare|watch|bench|check-types|node|typecheck|format)$/
const PUBLISHING =
  /^(?:publish|unpublish|login|logout|adduser|whoami|deprecate|dist-tag|owner|access|team|token|profile|star|search|s|se|find|view|v|info|show|outdated|audit|ping|org|hook|access|doctor|fund|npm|docs|home|repo|bugs|issues|diff|stars|undeprecate|trust)$/
const READING =
  /^(?:ls|list|la|ll|root|prefix|bin|help|explain|why|query|--version|licenses|completion|freeze|check)$/
const LOSING = /^(?:uninstall|un|remove|rm|r|unlink|prune|clean|autoremove|purge)$/

/** npm and its like, by their second word. */
const nodeVerb: ProgramClassifier = ({ program, args }) => {
  const sorted = parseArguments(args, VALUES)
  const [verb = '', ...operands] = sorted.operands
  const call = getValues(sorted, '-c --call --script-shell --shell --editor --browser').map((shell) => ({
    shell,
  }))
  if (verb.includes(UNKNOWN)) return { findings: createUnseenFindings(`a command of ${program}`) }
  if (verb === 'dlx') return { ...FETCHES, runs: [{ argv: operands }] }
  if (verb === 'exec' || verb === 'x')
    return classifyPackageRun([...args.slice(0, args.indexOf(verb)), ...args.slice(args.indexOf(verb) + 1)])
  if (verb === 'explore') return { ...RUNS_SCRIPTS, runs: [...call, { argv: operands.slice(1) }] }
  // `pack` downloads a package from a registry or address; a directory it does not.
  if (verb === 'pack' && operands.some((word) => /^(?:@?[\w-]+(?:\/[\w-]+)?(?:@|$)|https?:|git)/.test(word)))
    return FETCHES
  if (verb === 'init' && operands.length > 0) return FETCHES
  if (/^(?:config|c|set)$/.test(verb)) return classifyScriptSetting(operands, call)
  // An option may take the next word, so only one that stands alone counts.
  const isInfo = args.length === 1 && /^-[vh]$/.test(args[0] ?? '')
  if (verb === '') return program === 'yarn' && !isInfo ? FETCHES : READS
  if (hasOption(sorted, '-g --global --location') && (FETCHING.test(verb) || LOSING.test(verb))) {
    return {
      findings: [...FETCHES.findings, createFinding('host_escape_risk', 'installs outside the workspace')],
    }
  }
  const effect = classifyVerb(verb, sorted)
  return { ...effect, runs: [...call, ...(effect.runs ?? [])] }
}

const nodePackages = classifyEachReading(nodeVerb, VALUES)

/** Bun also runs code and lines of its own shell. */
const bun: ProgramClassifier = (call) => {
  const { args } = call
  const code = getValues(parseArguments(args, BUN_CODE), '-e --eval -p --print')
  if (code.length > 0) return { ...RUNS_SCRIPTS, runs: code.map((text) => ({ code: text })), paths: [] }
  return args[0] === 'exec'
    ? { ...RUNS_SCRIPTS, runs: [{ shell: args.slice(1).join(' ') }], paths: [] }
    : nodePackages(call)
}
const BUN_CODE = toOptionSet('-e --eval -p --print')

/** `npm config set script-shell x`: from then on scripts run in it. */
function classifyScriptSetting(operands: readonly string[], call: readonly NestedCommand[]): ProgramEffect {
  const [, setting, value = ''] =
    operands.join(' ').match(/\b(script-shell|shell|editor|git)[= ](.*)$/s) ?? []
  return { ...createEffect('mutating'), runs: setting === undefined ? call : [...call, { shell: value }] }
}

function classifyVerb(verb: string, sorted: Arguments): ProgramEffect {
  if (verb === 'audit' && hasOption(sorted, '--fix')) return FETCHES
  if (hasOption(sorted, '--offline') && FETCHING.test(verb)) return createEffect('mutating')
  if (FETCHING.test(verb)) return FETCHES
  if (PUBLISHING.test(verb)) return PUBLISHES
  if (LOSING.test(verb)) return LOSES
  if (READING.test(verb)) return READS
  const effect = RUNNING.test(verb)
    ? RUNS_SCRIPTS
    : createEffect('mutating', `runs '${verb}', a script or a command not known to policy`)
  return { ...effect, runs: findCarriedCommands(sorted.rest) }
}

function getArgumentsAfter(args: readonly string[], verb: string): readonly string[] {
  return parseArguments(args.slice(args.indexOf(verb) + 1), VALUES).rest
}

/** Runs an installed package; downloads it first if an option or a version requires it. */
const packageRunner: ProgramClassifier = ({ args }) => classifyPackageRun(args)

function classifyPackageRun(args: readonly string[]): ProgramEffect {
  const sorted = parseArguments(args, VALUES)
  const [first = ''] = sorted.rest
  // Words after the package belong to the package.
  const own = parseArguments(args.slice(0, args.length - sorted.rest.length), VALUES)
  const isFetching =
    hasOption(own, '-y --yes -p --package') ||
    /.@[^/]+$|^create-/.test(first) ||
    /^(?:https?:|git[@+]|github:)/.test(first)
  const runs = getValues(own, '-c --call --script-shell').map((shell) => ({ shell }))
  return {
    findings: isFetching ? FETCHES.findings : RUNS_SCRIPTS.findings,
    // One word with spaces is a line.
    runs: [
      ...runs,
      ...(first.includes(' ') ? [{ shell: sorted.rest.join(' ') }] : []),
      { argv: [first.replace(/(.)@[^/]*$/, '$1'), ...sorted.rest.slice(1)] },
    ],
    paths: args.slice(0, args.length - sorted.rest.length),
  }
}

const MANAGER_VALUES = toOptionSet('-p --package --manifest-path --features -r --python --group')

/** Creates a package manager of another language. */
function createManager(fetching: RegExp, reading: RegExp, runner?: RegExp): ProgramClassifier {
  const byVerb: ProgramClassifier = ({ program, args }) => {
    const { operands, options } = parseArguments(args, MANAGER_VALUES)
    const [verb = ''] = operands
    if (verb.includes(UNKNOWN)) return { findings: createUnseenFindings(`a command of ${program}`) }
    if (runner?.test(verb) && !options.has('--with'))
      return {
        ...RUNS_SCRIPTS,
        runs: [{ argv: getArgumentsAfter(args, verb) }, ...findCarriedCommands(args)],
      }
    if ((fetching.test(verb) || options.has('--with')) && !options.has('--offline')) return FETCHES
    if (verb === '' || reading.test(verb)) return READS
    if (LOSING.test(verb)) return LOSES
    return {
      ...createEffect('mutating', 'builds, tests or changes the project'),
      runs: findCarriedCommands(args),
    }
  }
  return classifyEachReading(byVerb, MANAGER_VALUES)
}

const pip = createManager(
  /^(?:install|download|wheel|search|index|create|update|upgrade)$/,
  /^(?:list|show|freeze|check|help|inspect|debug|info)$/,
  /^run$/,
)
const poetry = createManager(
  /^(?:install|add|update|lock|sync|publish|self|python|tool|pip|search|create|i|get|require)$/,
  /^(?:show|check|list|env|tree|version|about|licenses|outline)$/,
  /^(?:run|exec)$/,
)
const cargoVerb = createManager(
  /^(?:install|fetch|update|publish|search|add|login|logout|yank|owner|vendor|info|outdated|audit|binstall|generate-lockfile)$/,
  /^(?:tree|metadata|version|help|locate-project|pkgid|read-manifest|verify-project)$/,
)
const CARGO_VALUES = toOptionSet('--config -x --exec')

/** Settings may name programs, and `cargo watch -x` runs commands of its own. */
const cargo: ProgramClassifier = (call) => {
  // `+nightly` is a toolchain.
  const args = call.args[0]?.startsWith('+') ? call.args.slice(1) : call.args
  const { runs = [], ...effect } = cargoVerb({ ...call, args })
  const sorted = parseArguments(args, CARGO_VALUES)
  const settings = getValues(sorted, '--config').flatMap((setting) => [
    ...setting.matchAll(/["']([^"']+)["']/g),
  ])
  const isAlias = getValues(sorted, '--config').some((setting) => /\balias\b/.test(setting))
  const linkers = args.flatMap((arg) => arg.match(/^(?:-C)?linker=(.*)$/s)?.slice(1) ?? [])
  const watched = args.includes('watch') ? getValues(sorted, '-x --exec') : []
  return {
    ...effect,
    findings: [...effect.findings, ...(isAlias ? createUnseenFindings('a command of cargo') : [])],
    runs: [
      ...runs,
      ...linkers.map((linker) => ({ argv: [linker] })),
      ...settings.map(([, maybe = '']) => ({ maybe })),
      ...watched.map((line) => ({ argv: ['cargo', ...line.split(' ')] })),
    ],
  }
}

const goVerb = createManager(/^(?:get|install)$/, /^(?:version|doc|help)$/)
const GO_VALUES = toOptionSet('-C -exec -toolexec -vettool -o -run -modfile -mod -p -tags')
const GO_FETCHES = /^(?:mod (?:download|tidy|vendor)\b|run (?:-\S+ )*\S+@|list .*(?:-u|-versions)\b)/

const go: ProgramClassifier = classifyEachReading((call) => {
  const line = call.args.join(' ')
  if (GO_FETCHES.test(line)) return FETCHES
  if (/^env -[wu]\b/.test(line))
    return createEffect('host_escape_risk', 'changes settings outside the workspace')
  const { runs = [], ...effect } = goVerb(call)
  // Programs that start tests, compiler tools and checks.
  const others = [
    ...getValues(parseArguments(call.args, GO_VALUES), '-exec -toolexec -vettool'),
    ...call.args.flatMap((arg) => arg.match(/^--?(?:exec|toolexec|vettool)=(.*)$/s)?.slice(1) ?? []),
  ]
  return { ...effect, runs: [...runs, ...others.map((shell) => ({ shell }))] }
}, toOptionSet('-exec -toolexec -vettool'))

const gems = createManager(
  /^(?:install|update|push|fetch|outdated|add|search|i)$/,
  /^(?:list|show|info|check|which|contents|environment|help)$/,
  /^exec$/,
)

/** Programs that download and run packages of the project. */
export const packages: ProgramTable = {
  ...createAliases('npm pnpm yarn cnpm', nodePackages),
  bun,
  ...createAliases('npx bunx pnpx', packageRunner),
  ...createAliases('pip pip3 conda mamba', pip),
  ...createAliases('poetry uv pdm pipenv hatch rye composer mix rebar3', poetry),
  ...createAliases('uvx pipx', () => FETCHES),
  ...createAliases('corepack nvm fnm volta asdf mise rustup pyenv rbenv sdk', () => FETCHES),
  ...createAliases('gem bundle bundler', gems),
  cargo,
  go,
}
