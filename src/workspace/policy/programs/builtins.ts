import { UNKNOWN } from '../shell/unknown.ts'
import { sortOut, valued, valuesOf } from './options.ts'
import { finding, type Nested, named, type Program, type Programs, READS, systemPatterns } from './program.ts'

/** Names and numbers that a shell evaluates once more: `let 'a[$(curl x)]=1'`. */
const evaluates: Program = ({ args }) => ({
  ...READS,
  paths: systemPatterns(args),
  runs: args.flatMap(expandedLater),
})

/** Gives variables values that are only known when it runs: `read PATH`. */
function assigns(values: string): Program {
  const takesValue = valued(values)
  return (call) => {
    const { operands } = sortOut(call.args, takesValue)
    const settings = operands.map((setting): Nested => ({ setting, value: UNKNOWN }))
    return { ...evaluates(call), runs: [...(evaluates(call).runs ?? []), ...settings] }
  }
}

/** With `-v` what it writes becomes the value of a variable. */
const printf: Program = (call) => {
  const [variable] = valuesOf(sortOut(call.args.slice(0, 2), valued('-v')), '-v')
  const settings: Nested[] = variable === undefined ? [] : [{ setting: variable, value: UNKNOWN }]
  return { ...evaluates(call), runs: [...(evaluates(call).runs ?? []), ...settings] }
}

/** Calls a command for every few lines it has read. */
const mapfile: Program = (call) => {
  const callbacks = valuesOf(sortOut(call.args, valued('-d -n -O -s -u -C -c')), '-C')
  const { runs = [] } = assigns('-d -n -O -s -u -C -c')(call)
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
    if (at === -1) return { ...READS, paths: [] }
    return {
      findings: [finding('mutating', reason)],
      runs: args.slice(at + 1, at + 2).map((shell) => ({ shell })),
    }
  }
}

const REROUTES = 'decides what a name runs'

/** Commands of the shell itself that change nothing but the shell. */
export const builtins: Programs = {
  ...named('export declare local typeset readonly unset getopts let wait', evaluates),
  ...named('read', assigns('-a -d -i -n -N -p -t -u')),
  printf,
  ...named('mapfile readarray', mapfile),
  ...named(
    'set shopt setopt unalias compopt disown suspend bg fg logout popd ulimit clear tput stty',
    () => ({
      ...READS,
      paths: [],
    }),
  ),
  ...named('hash', unlessGiven(/^-[a-z]*p/, REROUTES)),
  ...named('enable', unlessGiven(/^-[a-z]*f/, REROUTES)),
  ...named('bind', unlessGiven(/^-[a-z]*[xf]|:/, REROUTES)),
  ...named('complete compgen', unlessGiven(/^-[a-zA-Z]*[CF]/, REROUTES)),
  ...named('history fc', unlessGiven(/^-[a-z]*[wanrse]/, 'writes or runs what was typed before')),
}
