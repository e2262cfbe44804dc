import { UNKNOWN } from '../shell/unknown.ts'
import { hasOption, sortOut, type Valued, valued, valuesOf } from './options.ts'
import { effect, finding, type Nested, named, type Program, type Programs, READS } from './program.ts'

const NO_VALUES: Valued = new Set()

/** A program that runs the rest of its line: after its options, and after as many operands of its own. */
function wrapper(values: Valued = NO_VALUES, operands = 0, own: Program = () => READS): Program {
  return (call) => {
    const { rest } = sortOut(call.args, values)
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

const asRoot: Program = () => ({
  findings: [finding('host_escape_risk', 'acts with the rights of another user')],
})
const elsewhere: Program = () => ({ findings: [finding('host_escape_risk', 'leaves what it runs in')] })
const observes: Program = () => effect('mutating', 'runs a program under observation')

const changes: Program = () => effect('mutating')
const fetches: Program = () => effect('networked', 'fetches secrets')

const ENV_VALUES = valued('-u --unset -C --chdir -S --split-string -a --argv0')

/** `env A=1 program`: assignments, then a program. Alone it tells the environment. */
const env: Program = ({ args, stdin }) => {
  const sorted = sortOut(args, ENV_VALUES)
  // A dash alone is `-i`.
  const at = sorted.rest.findIndex((word) => word !== '-' && !word.includes('='))
  const assignments = at === -1 ? sorted.rest : sorted.rest.slice(0, at)
  const command = at === -1 ? [] : sorted.rest.slice(at)
  const lines = valuesOf(sorted, '-S --split-string').map((line) => [line, ...command].join(' '))
  const settings = assignments
    .filter((word) => word !== '-')
    .map((word): Nested => {
      const equals = word.indexOf('=')
      return { setting: word.slice(0, equals), value: word.slice(equals + 1) }
    })
  const runs = [
    ...settings,
    ...lines.map((shell) => ({ shell })),
    ...(command.length > 0 ? [{ argv: command, stdin }] : []),
  ]
  return { ...READS, runs, paths: valuesOf(sorted, '-C --chdir') }
}

const XARGS_VALUES = valued(
  '-a --arg-file -d --delimiter -E -I -J -L -n --max-args -P --max-procs -R -S -s --max-chars --process-slot-var',
)

/** Words it reads, where they are known and nothing in them is quoted. */
function wordsIn(stdin: string | undefined): readonly string[] {
  const isKnown = stdin !== undefined && !/[\0"'\\]/.test(stdin)
  return isKnown ? stdin.split(/\s+/).filter((word) => word !== '') : [UNKNOWN, UNKNOWN]
}

/** What it reads becomes the last arguments, or takes the place of a word. */
const xargs: Program = ({ args, stdin }) => {
  const { options, rest } = sortOut(args, XARGS_VALUES)
  const places = [
    ...(options.get('-I') ?? []),
    ...(options.get('-J') ?? []),
    ...(options.get('--replace') ?? []),
    ...(options.has('-i') || options.get('--replace')?.length === 0 ? ['{}'] : []),
  ]
  const before = args.slice(0, args.length - rest.length)
  places.push(...before.flatMap((arg) => arg.match(/^-i(.+)$/s)?.slice(1) ?? []))
  if (rest.length === 0) return { ...READS, paths: before }
  // A file, or other separators, may make other words of it.
  const given = before.length === 0 ? wordsIn(stdin) : [UNKNOWN, UNKNOWN]
  const argv = rest.map((word) => places.reduce((text, place) => text.replaceAll(place, UNKNOWN), word))
  return {
    ...READS,
    paths: before,
    runs: [{ argv: places.length > 0 ? argv : [...argv, ...given], stdin: '' }],
  }
}

/** `command -v name` only asks. */
const command: Program = (call) =>
  /^-[pvV]*[vV]/.test(call.args[0] ?? '') ? { ...READS, paths: [] } : wrapper()(call)

/** The words are a line for a shell. */
const lineRunner =
  (values: Valued, own: Program = () => READS): Program =>
  (call) => {
    const { rest } = sortOut(call.args, values)
    return { ...own(call), paths: [], runs: rest.length === 0 ? [] : [{ shell: rest.join(' ') }] }
  }

/** The option of `su` and its like that holds a line. */
function optionLine(option: string, own: Program): Program {
  return (call) => {
    const sorted = sortOut(call.args, valued(`${option} -s --shell -g -G -u`))
    return { ...own(call), runs: valuesOf(sorted, option).map((shell) => ({ shell })) }
  }
}

const SCRIPT_VALUES = valued('-c --command -E --echo -I --log-in -O --log-out -B --log-io -T -m -o -t')

/** Records a line, the words after the file, or what a shell reads. */
const script: Program = (call) => {
  const sorted = sortOut(call.args, SCRIPT_VALUES)
  const lines = valuesOf(sorted, '-c --command').map((shell): Nested => ({ shell }))
  const command = sorted.rest.slice(call.args.includes('--') ? 0 : 1).filter((word) => word !== '--')
  const words: Nested = { argv: command.length > 0 ? command : ['sh'], stdin: call.stdin }
  return { ...observes(call), runs: lines.length > 0 ? lines : [words] }
}

/** `{}`, `{.}`, `{/}`, `{1}`, `{2.}`. */
const PLACE = /\{\d*[./#%]*\}/
const PLACES = /\{\d*[./#%]*\}/g
const PARALLEL_VALUES = valued(
  '-j --jobs -P --max-procs -a --arg-file -I -N -n --max-args -L --max-lines -d --delimiter -C --colsep -S --sshlogin --slf --sshloginfile --env --delay --timeout --retries --joblog --results --tmpdir --tempdir --workdir --wd --halt --load --memfree --nice --block --recstart --recend --tagstring --tag-string --profile -J --basefile --bf --return --shebang-wrap --bar-cmd --limit',
)

/** What it reads, or is given after `:::`, takes the place of braces in a line, or is the line itself. */
const parallel: Program = (call) => {
  const sorted = sortOut(call.args, PARALLEL_VALUES)
  const { rest } = sorted
  const isElsewhere = hasOption(sorted, '-S --sshlogin --slf --sshloginfile')
  const at = rest.findIndex((word) => word.startsWith(':::'))
  const line = (at === -1 ? rest : rest.slice(0, at)).join(' ')
  // After `::::` come files with what is given.
  const isFiles = at !== -1 && rest[at]?.startsWith('::::')
  const given = at === -1 || isFiles ? [UNKNOWN] : rest.slice(at + 1)
  const filled = PLACE.test(line) ? line.replaceAll(PLACES, '"$_"') : `${line} "$_"`
  const lines = line === '' ? given : [filled]
  return {
    findings: [...observes(call).findings, ...(isElsewhere ? [finding('networked')] : [])],
    paths: [...valuesOf(sorted, '-a --arg-file'), ...(isFiles ? rest.slice(at + 1) : [])],
    runs: lines.map((shell) => ({ shell })),
  }
}

/** Each word is a line to measure. */
const hyperfine: Program = (call) => {
  const sorted = sortOut(
    call.args,
    valued('-w --warmup -r --runs -m --min-runs -M -p --prepare -s --setup -c --cleanup -S --shell -n'),
  )
  const lines = [...sorted.operands, ...valuesOf(sorted, '-p --prepare -s --setup -c --cleanup -S --shell')]
  return { ...observes(call), paths: [], runs: lines.map((shell) => ({ shell })) }
}

/** Watches a program it starts, or one that runs already. */
const tracer: Program = (call) => {
  const sorted = sortOut(call.args, TRACER_VALUES)
  const others = valuesOf(sorted, '-p --pid --attach').length > 0
  const told = others ? elsewhere(call) : observes(call)
  const { runs = [], ...traced } = wrapper(TRACER_VALUES)(call)
  // `-o '|line'` writes to a program.
  const piped = valuesOf(sorted, '-o --output').flatMap((file) => file.match(/^[|!](.*)$/s)?.slice(1) ?? [])
  return { ...traced, findings: told.findings, runs: [...runs, ...piped.map((shell) => ({ shell }))] }
}
const TRACER_VALUES = valued('-e -o --output -p --pid --attach -s -u -w -m -r -E -S -P -a')

/** `perf stat program`: a command of its own comes first. */
const perf: Program = (call) => {
  const [verb = '', ...args] = call.args
  return /^(?:stat|record|trace|bench|mem|lock|kmem|sched|c2c)$/.test(verb)
    ? tracer({ ...call, args })
    : observes(call)
}

/** With `-s` its first word is a line. */
const entr: Program = (call) => {
  const { options, rest } = sortOut(call.args)
  const isLine = [...options.keys()].some((name) => /^-[a-z]*s/.test(name))
  return isLine ? { ...READS, paths: [], runs: [{ shell: rest[0] ?? UNKNOWN }] } : wrapper()(call)
}

const FLOCK_VALUES = valued('-w --wait --timeout -E --conflict-exit-code -c --command')

/** `flock file -c 'line'`, `flock -c 'line' file` or `flock file program`. */
const flock: Program = ({ args }) => {
  const { rest } = sortOut(args, FLOCK_VALUES)
  const [file = '', first = '', ...others] = rest
  // What comes after a program is the program's.
  const isLine = /^(?:-c|--command\b)/.test(first)
  const own = [...args.slice(0, args.length - rest.length), ...(isLine ? [first, ...others] : [])]
  const runs = valuesOf(sortOut(own, FLOCK_VALUES), '-c --command').map((shell): Nested => ({ shell }))
  if (first !== '' && !isLine) runs.push({ argv: [first, ...others] })
  return { findings: [finding('mutating')], paths: [file], runs }
}

/** Programs that run others: they are looked through. */
export const wrappers: Programs = {
  ...named('env genv', env),
  ...named('xargs gxargs', xargs),
  ...named('sudo', wrapper(valued('-u --user -g --group -C -D --chdir -h -p -r -t -T -U -R'), 0, asRoot)),
  ...named('doas', wrapper(valued('-u -C'), 0, asRoot)),
  ...named('pkexec runuser setpriv gosu su-exec', wrapper(valued('-u --user'), 0, asRoot)),
  ...named('su', optionLine('-c --command', asRoot)),
  ...named('script', script),
  ...named('chroot', wrapper(NO_VALUES, 1, elsewhere)),
  ...named(
    'nsenter unshare bwrap firejail proot fakeroot fakechroot setarch',
    wrapper(valued('-t -S -G -R -w --target --bind --ro-bind --dev --proc'), 0, elsewhere),
  ),
  ...named(
    'nohup setsid builtin exec unbuffer chronic nocorrect noglob rlwrap tini dumb-init catatonit eatmydata ifne tsp arch linux32 linux64 i386 x86_64 aarch64 uname26',
    wrapper(valued('-a')),
  ),
  ...named(
    'prlimit choom numactl cgexec aa-exec uclampset chpst softlimit trickle',
    wrapper(valued('-n -N -m -C -g -p -u -U -e -b -d -a -s -c -o -l -r')),
  ),
  ...named('envdir setlock kcov setuidgid lckdo runcon', wrapper(NO_VALUES, 1)),
  ...named(
    'proxychains torsocks torify tsocks',
    wrapper(valued('-f'), 0, () => effect('networked')),
  ),
  ...named('command', command),
  ...named('time', wrapper(valued('-f --format -o --output'))),
  ...named('timeout gtimeout', wrapper(valued('-s --signal -k --kill-after'), 1)),
  ...named('nice', wrapper(valued('-n --adjustment'))),
  ...named('ionice', wrapper(valued('-c -n -p -P --class --classdata'))),
  ...named('chrt', wrapper(valued('-T -P -D -p --sched-runtime --sched-period --sched-deadline'), 1)),
  // The processors come as a list after `-c`, else as a first word.
  ...named('taskset', wrapper(valued('-p'), 1)),
  ...named('stdbuf', wrapper(valued('-i -o -e --input --output --error'))),
  ...named('caffeinate', wrapper(valued('-t -w'))),
  // By itself it makes links to itself.
  ...named(
    'busybox toybox',
    wrapper(NO_VALUES, 0, (call) => (call.args.length > 0 ? changes(call) : READS)),
  ),
  ...named('ld.so xvfb-run dbus-run-session catchsegv', wrapper()),
  ...named('faketime', wrapper(valued('-f'), 1)),
  ...named('systemd-run', wrapper(valued('-p -u -t --unit --property -E --setenv'), 0, elsewhere)),
  ...named('capsh', (call) => ({
    ...elsewhere(call),
    runs: valuesOf(sortOut(call.args, valued('-c')), '-c').map((shell) => ({ shell })),
  })),
  ...named('strace ltrace valgrind rr heaptrack', tracer),
  ...named(
    'watch',
    lineRunner(valued('-n --interval -q --equexit -s --shotsdir'), () => ({
      findings: [finding('interactive')],
    })),
  ),
  ...named('cross-env dotenv', env),
  ...named('dotenvx', wrapper(valued('-f'), 1, changes)),
  ...named('direnv', wrapper(NO_VALUES, 2, changes)),
  ...named('doppler op', wrapper(NO_VALUES, 1, fetches)),
  ...named('chamber aws-vault', wrapper(NO_VALUES, 2, fetches)),
  ...named('entr', entr),
  flock,
  parallel,
  hyperfine,
  perf,
}
