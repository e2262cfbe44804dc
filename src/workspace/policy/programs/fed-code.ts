import { isLiteral, UNKNOWN } from '../shell/unknown.ts'
import {
  createEffect,
  createFinding,
  createUnseenFindings,
  isStandardInput,
  type NestedCommand,
  type ProgramEffect,
} from './program.ts'

export const RUNS_CODE = 'runs code that policy cannot analyse'

export function toCode(code: string): NestedCommand {
  return { code }
}

export function toShellLine(shell: string): NestedCommand {
  return { shell }
}

/** Classifies code from standard input, or from the end of another pipe, which is never known. */
export function classifyStream(
  script: string,
  stdin: string | undefined,
  nested: (text: string) => NestedCommand,
): ProgramEffect {
  return isStandardInput(script)
    ? classifyInput(stdin, nested)
    : { findings: createUnseenFindings('what it reads') }
}

/** Classifies code from standard input: of a here-document, of a pipe, or typed at the terminal. */
export function classifyInput(
  stdin: string | undefined,
  nested: (text: string) => NestedCommand,
): ProgramEffect {
  if (stdin === undefined)
    return { findings: [createFinding('interactive'), createFinding('mutating', RUNS_CODE)] }
  // The known part of it still counts.
  if (!isLiteral(stdin))
    return { findings: createUnseenFindings('what it reads'), runs: stdin === UNKNOWN ? [] : [nested(stdin)] }
  return { ...createEffect('mutating', RUNS_CODE), runs: [nested(stdin)] }
}
