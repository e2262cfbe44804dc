import { UNKNOWN } from '../shell/unknown.ts'
import { sortOut, valued, valuesOf } from './options.ts'
import {
  finding,
  type Nested,
  named,
  type Program,
  type Programs,
  READS,
  systemPatterns,
  unseen,
} from './program.ts'

/** Names and numbers that a shell evaluates once more: `let 'a[$(curl x)]=1'`. */
const evaluates: Program = ({ args }) => ({
  ...READS,
  paths: systemPatterns(args),
  runs: args.flatMap(expandedLater),
})

/** Gives the variables it names values, which are only known when it runs unless said otherwise: `read PATH`. */
function assigns(named: (args: readonly string[]) => readonly string[], value = UNKNOWN): Program {
  return (call) => {
    const settings = named(call.args).map((setting): Nested => ({ setting, value }))
    return { ...evaluates(call), runs: [...(evaluates(call).runs ?? []), ...settings] }
  }
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

/** After `declare -n y=PATH` whatever is assigned to `y` is assigned to the other. */
function otherNames(args: readonly string[]): readonly string[] {
  if (!args.some((arg) => /^-[a-zA-Z]*n/.test(arg))) return []
  return args.flatMap((arg) => arg.match(/^\w+=(\w+)$/)?.slice(1) ?? [])
}

/** Calls a command for every few lines it has read. */
const mapfile: Program = (call) => {
  const { operands, ...sorted } = sortOut(call.args, MAPFILE_VALUES)
  const { runs = [] } = assigns(() => operands)(call)
  const callbacks = valuesOf({ operands, ...sorted }, '-C')
  return { ...READS, paths: [], runs: [...runs, ...callbacks.map((shell) => ({ shell }))] }
}

/** Text that a shell expands when it gets to it. */
function expandedLater(text: string): Nested[] {
  return /\$\(|`/.test(text) ? [{ text }] : []
}

/** Decides what a name runs from now on, or writes a file, with an option only. */
function unlessGiven(options: RegExp, reason: string): Program {
  return ({ args }) => {
    const at = args.findIndex((arg) => options.test(arg))
    if (at === -1) return { ...READS, paths: [], runs: args.flatMap(expandedLater) }
    return {
      findings: [finding('mutating', reason)],
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

const REROUTES = 'decides what a name runs'

/** Commands of the shell itself that change nothing but the shell. */
export const builtins: Programs = {
  ...named('export readonly', evaluates),
  ...named('declare local typeset', assigns(otherNames)),
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
  ...named('let', assigns(numberNames)),
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
  ...named('hash', unlessGiven(/^-[a-z]*p/, REROUTES)),
  ...named('enable', unlessGiven(/^-[a-z]*f/, REROUTES)),
  ...named('bind', unlessGiven(/^-[a-z]*[xf]|:/, REROUTES)),
  ...named('complete compgen', unlessGiven(/^-[a-zA-Z]*[CF]/, REROUTES)),
  ...named('history fc', unlessGiven(/^-[a-z]*[wanrse]/, 'writes or runs what was typed before')),
}
