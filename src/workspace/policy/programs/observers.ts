import { UNKNOWN } from '../shell/unknown.ts'
import { createWrapper, joinEffects, leavesEnvironment, observes } from './create-wrapper.ts'
import { getValues, hasOption, parseArguments, toOptionSet } from './options.ts'
import {
  createAliases,
  createFinding,
  type NestedCommand,
  type ProgramClassifier,
  type ProgramTable,
} from './program.ts'
import { getValueOptions, splitCall } from './split-call.ts'

/** On BSD, `-t` takes the next word; elsewhere only an attached one. It is missing here, so that both readings count. */
const SCRIPT_OPTIONS =
  '-aefFkqdpr -c= -E= -I= -O= -B= -T= -m= -o= --append --command= --echo= --return --flush --force --quiet --log-in= --log-out= --log-io= --log-timing= --logging-format= --output-limit= --timing?'

/** Records a line, the words after the file, or a shell on its input. */
const script: ProgramClassifier = (call) => {
  // Options may come after the file as well.
  const sorted = parseArguments(call.args, getValueOptions(SCRIPT_OPTIONS))
  const lines = getValues(sorted, '-c --command').map((shell): NestedCommand => ({ shell }))
  if (lines.length > 0) return { ...observes(call), runs: lines }
  const { commands } = splitCall(SCRIPT_OPTIONS, call.args)
  const programs = (commands.length === 0 ? [[]] : commands).flatMap((words): NestedCommand[] => {
    const argv = words.slice(call.args.includes('--') ? 0 : 1).filter((word) => word !== '--')
    const runsShell = argv.length === 0 || argv[0]?.startsWith('-')
    return [
      ...(argv.length === 0 ? [] : [{ argv, stdin: call.stdin }]),
      ...(runsShell ? [{ argv: ['sh'], stdin: call.stdin }] : []),
    ]
  })
  return { ...observes(call), runs: programs }
}

/** `{}`, `{.}`, `{/}`, `{1}`, `{2.}`. */
const PLACEHOLDER = /\{\d*[./#%]*\}/
const PLACEHOLDERS = /\{\d*[./#%]*\}/g
const PARALLEL_OPTIONS =
  '-0DhkmqrtuvVX -# -j= -P= -a= -I= -N= -n= -d= -C= -S= -J= -E= -s= -M -l? -L= -i? -e? --jobs= --max-procs= --arg-file= --max-args= --max-lines= --delimiter= --colsep= --sshlogin= --slf= --sshloginfile= --env= --delay= --timeout= --retries= --joblog= --results= --tmpdir= --tempdir= --workdir= --wd= --halt= --load= --memfree= --nice= --block= --recstart= --recend= --tagstring= --tag-string= --profile= --basefile= --bf= --return= --shebang-wrap= --bar-cmd= --limit= --bar --progress --eta --dry-run --keep-order --ungroup --group --lb --line-buffer --linebuffer --tag --quote --null --verbose --shuf --no-notice --will-cite --link --xapply --resume --resume-failed --no-run-if-empty --pipe --pipepart --pipe-part --round-robin --cat --fifo --plain --silent --citation --xargs --fg --bg --wait --semaphore --help --version --cleanup --trc= --transfer --nonall --onall --header= --color --ctag --latest-line --ll --keep-order'

/** Words of its input, or after `:::`, replace braces in a line, or are the line itself. */
const parallel: ProgramClassifier = (call) => {
  const { own, commands } = splitCall(PARALLEL_OPTIONS, call.args)
  const isElsewhere = hasOption(own, '-S --sshlogin --slf --sshloginfile')
  const readings = (commands.length === 0 ? [[]] : commands).map(fillParallelLines)
  return {
    findings: [...observes(call).findings, ...(isElsewhere ? [createFinding('networked')] : [])],
    paths: [...getValues(own, '-a --arg-file'), ...readings.flatMap(({ files }) => files)],
    runs: readings.flatMap(({ lines }) => lines.map((shell) => ({ shell }))),
  }
}

/** Returns the lines that the words run, and the files with their arguments. */
function fillParallelLines(words: readonly string[]): { lines: readonly string[]; files: readonly string[] } {
  const start = words.findIndex((word) => word.startsWith(':::'))
  const line = (start === -1 ? words : words.slice(0, start)).join(' ')
  // Files with arguments follow `::::`.
  const isFiles = start !== -1 && words[start]?.startsWith('::::') === true
  const given = start === -1 || isFiles ? [UNKNOWN] : words.slice(start + 1)
  const filled = PLACEHOLDER.test(line) ? line.replaceAll(PLACEHOLDERS, '"$_"') : `${line} "$_"`
  return { lines: line === '' ? given : [filled], files: isFiles ? words.slice(start + 1) : [] }
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

/** Creates a program that traces one that it starts, or a running one. */
function createTracer(options: string, operands?: readonly number[]): ProgramClassifier {
  const run = createWrapper(options, operands)
  return (call) => {
    const { own } = splitCall(options, call.args)
    const isAttached = getValues(own, '-p --pid --attach').length > 0
    const { findings } = isAttached ? leavesEnvironment(call) : observes(call)
    const { runs = [], ...traced } = run(call)
    // `-o '|line'` writes to a program, and `perf stat` runs a line before and after.
    const piped = getValues(own, '-o --output').flatMap((file) => file.match(/^[|!](.*)$/s)?.slice(1) ?? [])
    const lines = [...piped, ...getValues(own, '--pr --pre --po --post')].map(
      (shell): NestedCommand => ({ shell }),
    )
    return { ...traced, findings, runs: [...runs, ...lines] }
  }
}

const PERF_OPTIONS =
  '-aqv -e= -p= -t= -C= -o= --event= --filter= --pid= --tid= --cpu= --output= --all-cpus --append --verbose --quiet'
const perfStat = createTracer(
  `${PERF_OPTIONS} -ABdHinST -D= -G= -I= -M= -r= -x= --pr= --pre= --po= --post= --repeat= --delay= --cgroup= --interval-print= --interval-count= --timeout= --null --big-num --sync --per-core --per-socket --per-thread --no-aggr --no-inherit --detailed --field-separator= --metrics= --json`,
)
const perfRecord = createTracer(
  `${PERF_OPTIONS} -bdgiNnRsTW -I? -c= -D= -F= -G= -j= -k= -m= -u= --call-graph= --freq= --count= --delay= --user= --uid= --mmap-pages= --no-inherit`,
)
/** Their next word may be `record`. */
const perfFamily = createTracer(PERF_OPTIONS, [0, 1])

/** `perf stat program`: its own options come first, then a subcommand. */
const perf: ProgramClassifier = (call) => {
  const { commands } = splitCall(
    '-p --paginate --no-pager --exec-path? --buildid-dir= --debugfs-dir= --debug=',
    call.args,
  )
  const effects = commands.map(([verb = '', ...args]) => {
    if (verb === 'stat') return perfStat({ ...call, args })
    if (verb === 'record') return perfRecord({ ...call, args })
    return /^(?:trace|bench|mem|lock|kmem|sched|c2c|kvm|kwork|ftrace|timechart|iostat|daemon)$/.test(verb)
      ? perfFamily({ ...call, args })
      : observes(call)
  })
  return joinEffects([observes(call), ...effects])
}

/** Programs that run others and record or measure what they do. */
export const observers: ProgramTable = {
  script,
  parallel,
  hyperfine,
  perf,
  ...createAliases(
    'strace',
    createTracer(
      '-AcCDdfFhiknNqrtTvVwxyYzZ -a= -b= -e= -E= -I= -o= -O= -p= -P= -s= -S= -u= -U= -X= --follow-forks --attach= --output= --trace= --env= --user= --string-limit= --summary --summary-only --seccomp-bpf',
    ),
  ),
  ...createAliases(
    'ltrace',
    createTracer(
      '-bcCfhiLrStTV -a= -A= -D= -e= -F= -l= -n= -o= -p= -s= -u= -w= -x= --output= --demangle --indent=',
    ),
  ),
  ...createAliases('valgrind', createTracer('-qvdh --quiet --verbose')),
  ...createAliases('rr', createTracer('-S -M -F -U -v -a -n -h', [0, 1])),
  ...createAliases(
    'heaptrack',
    createTracer('-dhr -p= -o= -a= --pid= --output= --debug --record-only --raw'),
  ),
}
