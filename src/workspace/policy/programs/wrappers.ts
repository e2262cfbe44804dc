import { UNKNOWN } from '../shell/unknown.ts'
import { actors } from './actors.ts'
import { createLineRunner, createWrapper } from './create-wrapper.ts'
import { observers } from './observers.ts'
import { getValues, hasOption, parseArguments } from './options.ts'
import {
  createAliases,
  createEffect,
  createFinding,
  type NestedCommand,
  type ProgramClassifier,
  type ProgramTable,
  READS,
} from './program.ts'
import { schedulers } from './schedulers.ts'
import { getValueOptions, splitCall } from './split-call.ts'

const changes: ProgramClassifier = () => createEffect('mutating')
const fetches: ProgramClassifier = () => createEffect('networked', 'fetches secrets')

/** Creates `env A=1 program`: assignments, then a program. Alone it prints the environment. */
function createEnvironment(options: string): ProgramClassifier {
  return ({ args, stdin }) => {
    const { own, commands } = splitCall(options, args)
    const lines = getValues(own, '-S --split-string')
    const readings = commands.length === 0 ? [[]] : commands
    const runs = readings.flatMap((words) => runInEnvironment(words, lines, stdin))
    return { ...READS, runs, paths: getValues(own, '-C --chdir') }
  }
}

function runInEnvironment(
  words: readonly string[],
  lines: readonly string[],
  stdin: string | undefined,
): NestedCommand[] {
  // A dash alone is `-i`.
  const start = words.findIndex((word) => word !== '-' && !word.includes('='))
  const assignments = start === -1 ? words : words.slice(0, start)
  const argv = start === -1 ? [] : words.slice(start)
  const settings = assignments
    .filter((word) => word !== '-')
    .map((word): NestedCommand => {
      const equals = word.indexOf('=')
      return { setting: word.slice(0, equals), value: word.slice(equals + 1) }
    })
  return [
    ...settings,
    ...lines.map((line) => ({ shell: [line, ...argv].join(' ') })),
    ...(argv.length > 0 ? [{ argv, stdin }] : []),
  ]
}

const XARGS_OPTIONS =
  '-0rtxopV -d= -E= -I= -J= -L= -n= -P= -s= -R= -S= -a= -i? -l? -e? --null --no-run-if-empty --interactive --open-tty --show-limits --max-args= --max-procs= --max-chars= --max-lines? --replace? --eof? --delimiter= --arg-file= --process-slot-var= --verbose --exit'

/** Splits the words of its input, where they are known and unquoted. */
function splitWords(stdin: string | undefined): readonly string[] {
  const isKnown = stdin !== undefined && !/[\0"'\\]/.test(stdin)
  return isKnown ? stdin.split(/\s+/).filter((word) => word !== '') : [UNKNOWN, UNKNOWN]
}

/** Words of its input become the last arguments, or replace a placeholder. */
const xargs: ProgramClassifier = ({ args, stdin }) => {
  const { own, before, commands } = splitCall(XARGS_OPTIONS, args)
  const placeholders = [
    ...getValues(own, '-I -J -i --replace'),
    ...(hasOption(own, '-i --replace') ? ['{}'] : []),
  ]
  // A file, or other separators, may split it into other words.
  const given = before.length === 0 ? splitWords(stdin) : [UNKNOWN, UNKNOWN]
  const runs = commands.map((words) => {
    const argv = words.map((word) =>
      placeholders.reduce((text, placeholder) => text.replaceAll(placeholder, UNKNOWN), word),
    )
    return { argv: placeholders.length > 0 ? argv : [...argv, ...given], stdin: '' }
  })
  return { ...READS, paths: before, runs }
}

/** `command -v name` only looks up a name. */
const command: ProgramClassifier = (call) =>
  /^-[pvV]*[vV]/.test(call.args[0] ?? '') ? { ...READS, paths: [] } : createWrapper()(call)

const ENTR_OPTIONS = '-acdnprsxz'

/** Reads the first word as a command line if `-s` is given. */
const entr: ProgramClassifier = (call) => {
  const { own, commands } = splitCall(ENTR_OPTIONS, call.args)
  return hasOption(own, '-s')
    ? { ...READS, paths: [], runs: commands.map(([shell = UNKNOWN]) => ({ shell })) }
    : createWrapper(ENTR_OPTIONS)(call)
}

const FLOCK_OPTIONS =
  '-enosuxF -w= -E= -c= --wait= --timeout= --conflict-exit-code= --command= --exclusive --shared --unlock --nonblock --nb --close --no-fork --verbose'

/** `flock file -c 'line'`, `flock -c 'line' file` or `flock file program`. */
const flock: ProgramClassifier = ({ args }) => {
  const { own, commands } = splitCall(FLOCK_OPTIONS, args)
  const lines = getValues(own, '-c --command')
  const runs = commands.flatMap(([, first = '', ...others]): NestedCommand[] => {
    // Words after a program belong to the program.
    if (!/^(?:-c|--command\b)/.test(first)) return first === '' ? [] : [{ argv: [first, ...others] }]
    const words = parseArguments([first, ...others], getValueOptions(FLOCK_OPTIONS))
    return getValues(words, '-c --command').map((shell) => ({ shell }))
  })
  return {
    findings: [createFinding('mutating')],
    paths: commands.flatMap(([file = '']) => [file]),
    runs: [...lines.map((shell) => ({ shell })), ...runs],
  }
}

/** Programs that run others, which are classified in turn. */
export const wrappers: ProgramTable = {
  ...observers,
  ...createAliases(
    'env genv',
    createEnvironment(
      '-i0v -u= -C= -S= -a= --ignore-environment --null --unset= --chdir= --split-string= --debug --argv0= --block-signal? --default-signal? --ignore-signal? --list-signal-handling',
    ),
  ),
  ...createAliases('cross-env', createEnvironment('')),
  ...createAliases('dotenv', createEnvironment('-o -e= -f= -v= -p= -q= --debug')),
  ...createAliases('xargs gxargs', xargs),
  ...actors,
  ...schedulers,
  ...createAliases('nohup builtin nocorrect noglob eatmydata catchsegv', createWrapper()),
  ...createAliases('setsid', createWrapper('-cfw --ctty --fork --wait')),
  ...createAliases('exec', createWrapper('-cl -a=')),
  ...createAliases('unbuffer', createWrapper('-p')),
  ...createAliases('chronic', createWrapper('-ve')),
  ...createAliases('ifne', createWrapper('-n')),
  ...createAliases(
    'rlwrap',
    createWrapper(
      '-ceghiInNrRUvwWX -a? -A? -m? -p? -b= -C= -D= -f= -F= -H= -l= -M= -O= -P= -q= -s= -S= -t= --always-readline? --ansi-colour-aware? --complete-filenames --remember --no-warnings --no-children --one-shot',
    ),
  ),
  ...createAliases('tini', createWrapper('-ghlsvw -p= -e= --version')),
  ...createAliases('dumb-init', createWrapper('-chvV -r= --rewrite= --single-child --verbose')),
  ...createAliases('catatonit', createWrapper('-Pg')),
  ...createAliases('tsp', createWrapper('-BdEfgmn -D= -L= -N= -W=')),
  ...createAliases('envdir', createWrapper('', [1])),
  ...createAliases('setlock', createWrapper('-nNxX', [1])),
  ...createAliases('kcov', createWrapper('', [1])),
  ...createAliases('setuidgid', createWrapper('-s', [1])),
  ...createAliases('lckdo', createWrapper('-eqswx -W= -E=', [1])),
  // The first word is a context, unless options name its parts.
  ...createAliases(
    'runcon',
    createWrapper('-c -t= -u= -r= -l= --compute --type= --user= --role= --range=', [1, 0]),
  ),
  ...createAliases(
    'proxychains torsocks torify tsocks',
    createWrapper('-q -f=', [0], () => createEffect('networked')),
  ),
  ...createAliases('command', command),
  // By itself it creates links to itself.
  ...createAliases(
    'busybox toybox',
    createWrapper('', [0], (call) => (call.args.length > 0 ? changes(call) : READS)),
  ),
  ...createAliases(
    'ld.so',
    createWrapper(
      '--library-path= --preload= --audit= --argv0= --inhibit-rpath= --inhibit-cache --list --verify',
    ),
  ),
  ...createAliases(
    'xvfb-run',
    createWrapper(
      '-adhl -e= -f= -n= -p= -s= -w= --auto-servernum --auto-display --server-num= --server-args= --auth-file= --error-file= --listen-tcp --wait=',
    ),
  ),
  ...createAliases('dbus-run-session', createWrapper('--config-file= --dbus-daemon=')),
  ...createAliases('faketime', createWrapper('-fm --exclude-monotonic --date-prog=', [1])),
  ...createAliases(
    'watch',
    createLineRunner(
      '-bcCefgprtwx -d? -n= -q= -s= --interval= --equexit= --shotsdir= --beep --color --no-color --differences? --errexit --chgexit --precise --no-title --no-wrap --exec',
      () => ({ findings: [createFinding('interactive')] }),
    ),
  ),
  ...createAliases('dotenvx', createWrapper('-q -f= -e=', [1], changes)),
  ...createAliases('direnv', createWrapper('', [2], changes)),
  ...createAliases('doppler op', createWrapper('', [1], fetches)),
  ...createAliases('chamber aws-vault', createWrapper('', [2], fetches)),
  ...createAliases('entr', entr),
  flock,
}
