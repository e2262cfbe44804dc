import { isPlainName } from '../shell/arithmetic.ts'
import { UNKNOWN } from '../shell/unknown.ts'
import { sortOut, valued, valuesOf } from './options.ts'
import {
  type Effect,
  finding,
  type Invocation,
  type Nested,
  named,
  type Program,
  type Programs,
  READS,
  systemPatterns,
  unseen,
} from './program.ts'

const NAMES = finding('mutating', 'names a variable by an expression, which the shell evaluates')

/** A builtin that names variables: `a[$(touch x)]` is a name as well, and runs what is in it. */
function naming({ args }: Invocation, names: readonly string[]): Effect {
  return {
    findings: names.every(isPlainName) ? READS.findings : [NAMES],
    paths: systemPatterns(args),
    runs: args.flatMap(expandedLater),
  }
}

/** Gives the variables it names values, which are only known when it runs unless said otherwise: `read PATH`. */
function assigns(named: (args: readonly string[]) => readonly string[], value = UNKNOWN): Program {
  return (call) => {
    const names = named(call.args)
    const told = naming(call, names)
    const settings = names.map((setting): Nested => ({ setting, value }))
    return { ...told, runs: [...(told.runs ?? []), ...settings] }
  }
}

/** `declare a=1`. What stands in brackets is expanded though it was quoted: `declare 'a=($(touch x))'`. */
const declares: Program = (call) => {
  const words = call.args.filter((arg) => !arg.startsWith('-'))
  const told = naming(
    call,
    words.map((word) => (/^\w+\+?=(?!\()/.test(word) ? word.slice(0, word.search(/\+?=/)) : word)),
  )
  const settings = otherNames(call.args).map((setting): Nested => ({ setting, value: UNKNOWN }))
  return { ...told, runs: [...(told.runs ?? []), ...settings] }
}

const READ_VALUES = valued('-a -d -i -n -N -p -t -u')
const WAIT_VALUES = valued('-p')
const PRINTF_VALUES = valued('-v')
const MAPFILE_VALUES = valued('-d -n -O -s -u -C -c')

/** The lines become words of an array with `-a`. */
function readNames(args: readonly string[]): readonly string[] {
  const sorted = sortOut(args, READ_VALUES)
  return [...sorted.operands, ...valuesOf(sorted, '-a')]
}

const ASSIGNED_NUMBER = /(?<!\w)([A-Za-z_]\w*)\s*(?:\[|\+\+|--|(?:[-+*/%&|^]|<<|>>)?=(?!=))/g

/** `let PATH=1`: a number, which may be the name of a directory as well. */
function numberNames(args: readonly string[]): readonly string[] {
  return args.flatMap((arg) => [...arg.matchAll(ASSIGNED_NUMBER)].map(([, name = '']) => name))
}

/** Only an assignment of a number is known to run nothing. */
const letNumbers: Program = (call) => {
  const { runs = [], ...told } = naming(call, [])
  const isPlain = call.args.every((arg) => /^(?:[A-Za-z_]\w*\s*=\s*)?-?\d+$/.test(arg))
  const settings = numberNames(call.args).map((setting): Nested => ({ setting, value: UNKNOWN }))
  return { ...told, findings: isPlain ? READS.findings : [NAMES], runs: [...runs, ...settings] }
}

/** After `declare -n y=PATH` whatever is assigned to `y` is assigned to the other. */
function otherNames(args: readonly string[]): readonly string[] {
  if (!args.some((arg) => /^-[a-zA-Z]*n/.test(arg))) return []
  return args.flatMap((arg) => arg.match(/^\w+=(\w+)$/)?.slice(1) ?? [])
}

/** Calls a command for every few lines it has read. */
const mapfile: Program = (call) => {
  const { operands, ...sorted } = sortOut(call.args, MAPFILE_VALUES)
  const { findings, runs = [] } = assigns(() => operands)(call)
  const callbacks = valuesOf({ operands, ...sorted }, '-C')
  return { findings, paths: [], runs: [...runs, ...callbacks.map((shell) => ({ shell }))] }
}

/** Text that a shell expands when it gets to it. */
function expandedLater(text: string): Nested[] {
  return /\$\(|`/.test(text) ? [{ text }] : []
}

/** Decides what a name runs from now on with an option: what it is given then is a line. */
function rerouting(options: RegExp): Program {
  return ({ args }) => {
    const at = args.findIndex((arg) => options.test(arg))
    if (at === -1) return { ...READS, paths: [], runs: args.flatMap(expandedLater) }
    return {
      findings: [finding('mutating', 'decides what a name runs')],
      // Before the colon stands the key it is for.
      runs: args.slice(at + 1, at + 2).map((line) => ({ shell: line.replace(/^"[^"]*":\s*/, '') })),
    }
  }
}

/** With `-k` every `A=1` of a line is set for its program, wherever it stands. */
const set: Program = ({ args }) => ({
  findings: args.some((arg) => /^-[a-zA-Z]*k|^keyword$/.test(arg)) ? unseen('what is set') : READS.findings,
  paths: [],
})

/** Commands of the shell itself that change nothing but the shell. */
export const builtins: Programs = {
  ...named('export readonly declare local typeset', declares),
  ...named('read', assigns(readNames)),
  ...named(
    'getopts',
    assigns((args) => args.slice(1, 2)),
  ),
  ...named(
    'wait',
    assigns((args) => valuesOf(sortOut(args, WAIT_VALUES), '-p')),
  ),
  ...named(
    'printf',
    assigns((args) => valuesOf(sortOut(args.slice(0, 2), PRINTF_VALUES), '-v')),
  ),
  let: letNumbers,
  // Without a PATH programs are looked for where the shell stands.
  ...named(
    'unset',
    assigns((args) => sortOut(args).operands, ''),
  ),
  ...named('set', set),
  ...named('mapfile readarray', mapfile),
  ...named('shopt setopt unalias compopt disown suspend bg fg logout popd ulimit clear tput', () => ({
    ...READS,
    paths: [],
  })),
  hash: rerouting(/^-[a-z]*p/),
  enable: rerouting(/^-[a-z]*f/),
  bind: rerouting(/^-[a-z]*[xf]|:/),
  ...named('complete compgen', rerouting(/^-[a-zA-Z]*[CF]/)),
  ...named('history fc', rerouting(/^-[a-z]*[wanrse]/)),
}
