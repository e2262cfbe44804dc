import { UNKNOWN } from '../shell/word.ts'
import { sortOut, type Valued, valued, valuesOf } from './options.ts'
import { finding, type Nested, named, type Program, type Programs, READS } from './program.ts'

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
const observes: Program = () => ({ findings: [finding('mutating', 'runs a program under observation')] })

const ENV_VALUES = valued('-u --unset -C --chdir -S --split-string')

/** `env A=1 program`: assignments, then a program. Alone it tells the environment. */
const env: Program = ({ args, stdin }) => {
  const sorted = sortOut(args, ENV_VALUES)
  const at = sorted.rest.findIndex((word) => !/^[A-Za-z_]\w*=/s.test(word))
  const assignments = at === -1 ? sorted.rest : sorted.rest.slice(0, at)
  const command = at === -1 ? [] : sorted.rest.slice(at)
  const lines = valuesOf(sorted, '-S --split-string').map((line) => [line, ...command].join(' '))
  const settings = assignments.map((word): Nested => {
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
  '-a --arg-file -d --delimiter -E -I --replace -L -l -n --max-args -P --max-procs -s --max-chars -i',
)

/** What it reads becomes the last arguments, or takes the place of a word. */
const xargs: Program = ({ args }) => {
  const { options, rest } = sortOut(args, XARGS_VALUES)
  const places = [
    ...(options.get('-I') ?? []),
    ...(options.get('--replace') ?? []),
    ...(options.has('-i') ? ['{}'] : []),
  ]
  const before = args.slice(0, args.length - rest.length)
  if (rest.length === 0) return { ...READS, paths: before }
  const argv = rest.map((word) => places.reduce((text, place) => text.replaceAll(place, UNKNOWN), word))
  return {
    ...READS,
    paths: before,
    runs: [{ argv: places.length > 0 ? argv : [...argv, UNKNOWN], stdin: '' }],
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

/** The option of `su` and `script` that holds a line. */
function optionLine(option: string, own: Program): Program {
  return (call) => {
    const sorted = sortOut(call.args, valued(`${option} -s --shell -g -G -u`))
    return { ...own(call), runs: valuesOf(sorted, option).map((shell) => ({ shell })) }
  }
}

/** `flock file -c 'line'` or `flock file program`. */
const flock: Program = (call) => {
  const sorted = sortOut(call.args, valued('-w --timeout -E'))
  const [file = '', ...rest] = sorted.rest
  const isLine = rest[0] === '-c' || rest[0] === '--command'
  const run: Nested = isLine ? { shell: rest[1] ?? UNKNOWN } : { argv: rest }
  return { findings: [finding('mutating')], paths: [file], runs: rest.length === 0 ? [] : [run] }
}

/** Programs that run others: they are looked through. */
export const wrappers: Programs = {
  ...named('env genv', env),
  ...named('xargs gxargs', xargs),
  ...named(
    'parallel',
    lineRunner(valued('-j --jobs -a -I -N -n --delay --timeout --retries --colsep'), observes),
  ),
  ...named('sudo', wrapper(valued('-u --user -g --group -C -D --chdir -h -p -r -t -T -U -R'), 0, asRoot)),
  ...named('doas', wrapper(valued('-u -C'), 0, asRoot)),
  ...named('pkexec runuser setpriv gosu su-exec', wrapper(valued('-u --user'), 0, asRoot)),
  ...named('su', optionLine('-c', asRoot)),
  ...named('script', optionLine('-c', observes)),
  ...named('chroot', wrapper(NO_VALUES, 1, elsewhere)),
  ...named(
    'nsenter unshare bwrap firejail proot fakeroot fakechroot setarch',
    wrapper(valued('-t -S -G -R -w --target --bind --ro-bind --dev --proc'), 0, elsewhere),
  ),
  ...named('nohup setsid builtin exec unbuffer chronic nocorrect noglob rlwrap', wrapper(valued('-a'))),
  ...named('command', command),
  ...named('time', wrapper(valued('-f --format -o --output'))),
  ...named('timeout gtimeout', wrapper(valued('-s --signal -k --kill-after'), 1)),
  ...named('nice', wrapper(valued('-n --adjustment'))),
  ...named('ionice chrt taskset', wrapper(valued('-c -n -p -P'), 0)),
  ...named('stdbuf', wrapper(valued('-i -o -e'))),
  ...named('caffeinate', wrapper(valued('-t -w'))),
  ...named('busybox toybox', wrapper()),
  ...named(
    'strace ltrace valgrind perf rr heaptrack hyperfine',
    wrapper(valued('-e -o -p -s -u -w -m -r'), 0, observes),
  ),
  ...named(
    'watch',
    lineRunner(valued('-n --interval'), () => ({ findings: [finding('interactive')] })),
  ),
  ...named('cross-env dotenv', env),
  ...named('dotenvx doppler op direnv chamber', wrapper(valued('-f'), 1)),
  ...named('entr', wrapper()),
  flock,
}
