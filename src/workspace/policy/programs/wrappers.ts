import { UNKNOWN } from '../shell/unknown.ts'
import { getValues, hasOption, type OptionSet, parseArguments, toOptionSet } from './options.ts'
import {
  createAliases,
  createEffect,
  createFinding,
  type NestedCommand,
  type ProgramClassifier,
  type ProgramTable,
  READS,
} from './program.ts'

const NO_VALUES: OptionSet = new Set()

/** Creates a program that runs the rest of its line: after its options, and a number of its own operands. */
function createWrapper(
  values: OptionSet = NO_VALUES,
  operands = 0,
  own: ProgramClassifier = () => READS,
): ProgramClassifier {
  return (call) => {
    const { rest } = parseArguments(call.args, values)
    const command = rest.slice(operands)
    const before = call.args.slice(0, call.args.length - command.length)
    const { findings } = own({ ...call, args: before })
    return {
      findings,
      paths: before,
      runs: command.length === 0 ? [] : [{ argv: command, stdin: call.stdin }],
    }
  }
}

const actsAsOtherUser: ProgramClassifier = () => ({
  findings: [createFinding('host_escape_risk', 'acts with the rights of another user')],
})
const leavesEnvironment: ProgramClassifier = () => ({
  findings: [createFinding('host_escape_risk', 'leaves the environment that it runs in')],
})
const observes: ProgramClassifier = () => createEffect('mutating', 'runs a program under observation')

const changes: ProgramClassifier = () => createEffect('mutating')
const fetches: ProgramClassifier = () => createEffect('networked', 'fetches secrets')

const ENV_VALUES = toOptionSet('-u --unset -C --chdir -S --split-string -a --argv0')

/** `env A=1 program`: assignments, then a program. Alone it prints the environment. */
const env: ProgramClassifier = ({ args, stdin }) => {
  const sorted = parseArguments(args, ENV_VALUES)
  // A dash alone is `-i`.
  const start = sorted.rest.findIndex((word) => word !== '-' && !word.includes('='))
  const assignments = start === -1 ? sorted.rest : sorted.rest.slice(0, start)
  const command = start === -1 ? [] : sorted.rest.slice(start)
  const lines = getValues(sorted, '-S --split-string').map((line) => [line, ...command].join(' '))
  const settings = assignments
    .filter((word) => word !== '-')
    .map((word): NestedCommand => {
      const equals = word.indexOf('=')
      return { setting: word.slice(0, equals), value: word.slice(equals + 1) }
    })
  const runs = [
    ...settings,
    ...lines.map((shell) => ({ shell })),
    ...(command.length > 0 ? [{ argv: command, stdin }] : []),
  ]
  return { ...READS, runs, paths: getValues(sorted, '-C --chdir') }
}

const XARGS_VALUES = toOptionSet(
  '-a --arg-file -d --delimiter -E -I -J -L -n --max-args -P --max-procs -R -S -s --max-chars --process-slot-var',
)

/** Splits the words of its input, where they are known and unquoted. */
function splitWords(stdin: string | undefined): readonly string[] {
  const isKnown = stdin !== undefined && !/[\0"'\\]/.test(stdin)
  return isKnown ? stdin.split(/\s+/).filter((word) => word !== '') : [UNKNOWN, UNKNOWN]
}

/** Words of its input become the last arguments, or replace a placeholder. */
const xargs: ProgramClassifier = ({ args, stdin }) => {
  const { options, rest } = parseArguments(args, XARGS_VALUES)
  const placeholders = [
    ...(options.get('-I') ?? []),
    ...(options.get('-J') ?? []),
    ...(options.get('--replace') ?? []),
    ...(options.has('-i') || options.get('--replace')?.length === 0 ? ['{}'] : []),
  ]
  const before = args.slice(0, args.length - rest.length)
  placeholders.push(...before.flatMap((arg) => arg.match(/^-i(.+)$/s)?.slice(1) ?? []))
  if (rest.length === 0) return { ...READS, paths: before }
  // A file, or other separators, may split it into other words.
  const given = before.length === 0 ? splitWords(stdin) : [UNKNOWN, UNKNOWN]
  const argv = rest.map((word) =>
    placeholders.reduce((text, placeholder) => text.replaceAll(placeholder, UNKNOWN), word),
  )
  return {
    ...READS,
    paths: before,
    runs: [{ argv: placeholders.length > 0 ? argv : [...argv, ...given], stdin: '' }],
  }
}

/** `command -v name` only looks up a name. */
const command: ProgramClassifier = (call) =>
  /^-[pvV]*[vV]/.test(call.args[0] ?? '') ? { ...READS, paths: [] } : createWrapper()(call)

/** Creates a program whose words are a line for a shell. */
const createLineRunner =
  (values: OptionSet, own: ProgramClassifier = () => READS): ProgramClassifier =>
  (call) => {
    const { rest } = parseArguments(call.args, values)
    return { ...own(call), paths: [], runs: rest.length === 0 ? [] : [{ shell: rest.join(' ') }] }
  }

/** Creates a program such as `su`, with an option that takes a line. */
function createOptionRunner(option: string, own: ProgramClassifier): ProgramClassifier {
  return (call) => {
    const sorted = parseArguments(call.args, toOptionSet(`${option} -s --shell -g -G -u`))
    return { ...own(call), runs: getValues(sorted, option).map((shell) => ({ shell })) }
  }
}

const SCRIPT_VALUES = toOptionSet('-c --command -E --echo -I --log-in -O --log-out -B --log-io -T -m -o -t')

/** Records a line, the words after the file, or a shell on its input. */
const script: ProgramClassifier = (call) => {
  const sorted = parseArguments(call.args, SCRIPT_VALUES)
  const lines = getValues(sorted, '-c --command').map((shell): NestedCommand => ({ shell }))
  const command = sorted.rest.slice(call.args.includes('--') ? 0 : 1).filter((word) => word !== '--')
  const words: NestedCommand = { argv: command.length > 0 ? command : ['sh'], stdin: call.stdin }
  return { ...observes(call), runs: lines.length > 0 ? lines : [words] }
}

/** `{}`, `{.}`, `{/}`, `{1}`, `{2.}`. */
const PLACEHOLDER = /\{\d*[./#%]*\}/
const PLACEHOLDERS = /\{\d*[./#%]*\}/g
const PARALLEL_VALUES = toOptionSet(
  '-j --jobs -P --max-procs -a --arg-file -I -N -n --max-args -L --max-lines -d --delimiter -C --colsep -S --sshlogin --slf --sshloginfile --env --delay --timeout --retries --joblog --results --tmpdir --tempdir --workdir --wd --halt --load --memfree --nice --block --recstart --recend --tagstring --tag-string --profile -J --basefile --bf --return --shebang-wrap --bar-cmd --limit',
)

/** Words of its input, or after `:::`, replace braces in a line, or are the line itself. */
const parallel: ProgramClassifier = (call) => {
  const sorted = parseArguments(call.args, PARALLEL_VALUES)
  const { rest } = sorted
  const isElsewhere = hasOption(sorted, '-S --sshlogin --slf --sshloginfile')
  const start = rest.findIndex((word) => word.startsWith(':::'))
  const line = (start === -1 ? rest : rest.slice(0, start)).join(' ')
  // Files with arguments follow `::::`.
  const isFiles = start !== -1 && rest[start]?.startsWith('::::')
  const given = start === -1 || isFiles ? [UNKNOWN] : rest.slice(start + 1)
  const filled = PLACEHOLDER.test(line) ? line.replaceAll(PLACEHOLDERS, '"$_"') : `${line} "$_"`
  const lines = line === '' ? given : [filled]
  return {
    findings: [...observes(call).findings, ...(isElsewhere ? [createFinding('networked')] : [])],
    paths: [...getValues(sorted, '-a --arg-file'), ...(isFiles ? rest.slice(start + 1) : [])],
    runs: lines.map((shell) => ({ shell })),
  }
}

/** Each word is a line to measure. */
const hyperfine: ProgramClassifier = (call) => {
  const sorted = parseArguments(
    call.args,
    toOptionSet('-w --warmup -r --runs -m --min-runs -M -p --prepare -s --setup -c --cleanup -S --shell -n'),
  )
  const lines = [...sorted.operands, ...getValues(sorted, '-p --prepare -s --setup -c --cleanup -S --shell')]
  return { ...observes(call), paths: [], runs: lines.map((shell) => ({ shell })) }
}

/** Traces a program that it starts, or a running one. */
const tracer: ProgramClassifier = (call) => {
  const sorted = parseArguments(call.args, TRACER_VALUES)
  const isAttached = getValues(sorted, '-p --pid --attach').length > 0
  const effect = isAttached ? leavesEnvironment(call) : observes(call)
  const { runs = [], ...traced } = createWrapper(TRACER_VALUES)(call)
  // `-o '|line'` writes to a program.
  const piped = getValues(sorted, '-o --output').flatMap((file) => file.match(/^[|!](.*)$/s)?.slice(1) ?? [])
  return { ...traced, findings: effect.findings, runs: [...runs, ...piped.map((shell) => ({ shell }))] }
}
const TRACER_VALUES = toOptionSet('-e -o --output -p --pid --attach -s -u -w -m -r -E -S -P -a')

/** `perf stat program`: a subcommand comes first. */
const perf: ProgramClassifier = (call) => {
  const [verb = '', ...args] = call.args
  return /^(?:stat|record|trace|bench|mem|lock|kmem|sched|c2c)$/.test(verb)
    ? tracer({ ...call, args })
    : observes(call)
}

/** Reads the first word as a command line if `-s` is given. */
const entr: ProgramClassifier = (call) => {
  const { options, rest } = parseArguments(call.args)
  const isLine = [...options.keys()].some((name) => /^-[a-z]*s/.test(name))
  return isLine ? { ...READS, paths: [], runs: [{ shell: rest[0] ?? UNKNOWN }] } : createWrapper()(call)
}

const FLOCK_VALUES = toOptionSet('-w --wait --timeout -E --conflict-exit-code -c --command')

/** `flock file -c 'line'`, `flock -c 'line' file` or `flock file program`. */
const flock: ProgramClassifier = ({ args }) => {
  const { rest } = parseArguments(args, FLOCK_VALUES)
  const [file = '', first = '', ...others] = rest
  // Words after a program belong to the program.
  const isLine = /^(?:-c|--command\b)/.test(first)
  const own = [...args.slice(0, args.length - rest.length), ...(isLine ? [first, ...others] : [])]
  const runs = getValues(parseArguments(own, FLOCK_VALUES), '-c --command').map(
    (shell): NestedCommand => ({ shell }),
  )
  if (first !== '' && !isLine) runs.push({ argv: [first, ...others] })
  return { findings: [createFinding('mutating')], paths: [file], runs }
}

/** Programs that run others, which are classified in turn. */
export const wrappers: ProgramTable = {
  ...createAliases('env genv', env),
  ...createAliases('xargs gxargs', xargs),
  ...createAliases(
    'sudo',
    createWrapper(toOptionSet('-u --user -g --group -C -D --chdir -h -p -r -t -T -U -R'), 0, actsAsOtherUser),
  ),
  ...createAliases('doas', createWrapper(toOptionSet('-u -C'), 0, actsAsOtherUser)),
  ...createAliases(
    'pkexec runuser setpriv gosu su-exec',
    createWrapper(toOptionSet('-u --user'), 0, actsAsOtherUser),
  ),
  ...createAliases('su', createOptionRunner('-c --command', actsAsOtherUser)),
  ...createAliases('script', script),
  ...createAliases('chroot', createWrapper(NO_VALUES, 1, leavesEnvironment)),
  ...createAliases(
    'nsenter unshare bwrap firejail proot fakeroot fakechroot setarch',
    createWrapper(toOptionSet('-t -S -G -R -w --target --bind --ro-bind --dev --proc'), 0, leavesEnvironment),
  ),
  ...createAliases(
    'nohup setsid builtin exec unbuffer chronic nocorrect noglob rlwrap tini dumb-init catatonit eatmydata ifne tsp arch linux32 linux64 i386 x86_64 aarch64 uname26',
    createWrapper(toOptionSet('-a')),
  ),
  ...createAliases(
    'prlimit choom numactl cgexec aa-exec uclampset chpst softlimit trickle',
    createWrapper(toOptionSet('-n -N -m -C -g -p -u -U -e -b -d -a -s -c -o -l -r')),
  ),
  ...createAliases('envdir setlock kcov setuidgid lckdo runcon', createWrapper(NO_VALUES, 1)),
  ...createAliases(
    'proxychains torsocks torify tsocks',
    createWrapper(toOptionSet('-f'), 0, () => createEffect('networked')),
  ),
  ...createAliases('command', command),
  ...createAliases('time', createWrapper(toOptionSet('-f --format -o --output'))),
  ...createAliases('timeout gtimeout', createWrapper(toOptionSet('-s --signal -k --kill-after'), 1)),
  ...createAliases('nice', createWrapper(toOptionSet('-n --adjustment'))),
  ...createAliases('ionice', createWrapper(toOptionSet('-c -n -p -P --class --classdata'))),
  ...createAliases(
    'chrt',
    createWrapper(toOptionSet('-T -P -D -p --sched-runtime --sched-period --sched-deadline'), 1),
  ),
  // The processors come as a list after `-c`, else as a first word.
  ...createAliases('taskset', createWrapper(toOptionSet('-p'), 1)),
  ...createAliases('stdbuf', createWrapper(toOptionSet('-i -o -e --input --output --error'))),
  ...createAliases('caffeinate', createWrapper(toOptionSet('-t -w'))),
  // By itself it creates links to itself.
  ...createAliases(
    'busybox toybox',
    createWrapper(NO_VALUES, 0, (call) => (call.args.length > 0 ? changes(call) : READS)),
  ),
  ...createAliases('ld.so xvfb-run dbus-run-session catchsegv', createWrapper()),
  ...createAliases('faketime', createWrapper(toOptionSet('-f'), 1)),
  ...createAliases(
    'systemd-run',
    createWrapper(toOptionSet('-p -u -t --unit --property -E --setenv'), 0, leavesEnvironment),
  ),
  ...createAliases('capsh', (call) => ({
    ...leavesEnvironment(call),
    runs: getValues(parseArguments(call.args, toOptionSet('-c')), '-c').map((shell) => ({ shell })),
  })),
  ...createAliases('strace ltrace valgrind rr heaptrack', tracer),
  ...createAliases(
    'watch',
    createLineRunner(toOptionSet('-n --interval -q --equexit -s --shotsdir'), () => ({
      findings: [createFinding('interactive')],
    })),
  ),
  ...createAliases('cross-env dotenv', env),
  ...createAliases('dotenvx', createWrapper(toOptionSet('-f'), 1, changes)),
  ...createAliases('direnv', createWrapper(NO_VALUES, 2, changes)),
  ...createAliases('doppler op', createWrapper(NO_VALUES, 1, fetches)),
  ...createAliases('chamber aws-vault', createWrapper(NO_VALUES, 2, fetches)),
  ...createAliases('entr', entr),
  flock,
  parallel,
  hyperfine,
  perf,
}
