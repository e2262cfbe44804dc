import {
  createEffect,
  createFinding,
  type NestedCommand,
  type ProgramClassifier,
  type ProgramEffect,
  READS,
} from './program.ts'
import { splitCall } from './split-call.ts'

/**
 * Creates a program that runs the rest of its line: after its options, and a number of its own operands, of which
 * several may be possible. `own` classifies the words before the wrapped program.
 */
export function createWrapper(
  options = '',
  operands: readonly number[] = [0],
  own: ProgramClassifier = () => READS,
): ProgramClassifier {
  return (call) => {
    const { before, commands } = splitCall(options, call.args)
    const ownArgs = [...before, ...(commands[0] ?? []).slice(0, operands[0])]
    const wrapped = operands.flatMap((count) => commands.map((command) => command.slice(count)))
    return {
      findings: own({ ...call, args: ownArgs }).findings,
      paths: ownArgs,
      runs: wrapped.flatMap((argv): NestedCommand[] =>
        argv.length === 0 ? [] : [{ argv, stdin: call.stdin }],
      ),
    }
  }
}

/** Creates a program whose words are a line for a shell. */
export function createLineRunner(options: string, own: ProgramClassifier = () => READS): ProgramClassifier {
  return (call) => {
    const { commands } = splitCall(options, call.args)
    return { ...own(call), paths: [], runs: commands.map((words) => ({ shell: words.join(' ') })) }
  }
}

/** Joins the effects of several readings of a call: all of them count. */
export function joinEffects(effects: readonly ProgramEffect[]): ProgramEffect {
  return {
    findings: effects.flatMap(({ findings }) => findings),
    runs: effects.flatMap(({ runs = [] }) => runs),
  }
}

export const actsAsOtherUser: ProgramClassifier = () => ({
  findings: [createFinding('host_escape_risk', 'acts with the rights of another user')],
})
export const leavesEnvironment: ProgramClassifier = () => ({
  findings: [createFinding('host_escape_risk', 'leaves the environment that it runs in')],
})
export const observes: ProgramClassifier = () => createEffect('mutating', 'runs a program under observation')
