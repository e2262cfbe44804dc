import type { Boundary, RunOptions, RunReport } from '../server/boundary/index.ts'
import { shown } from '../server/text/index.ts'
import type { Answer, ExecutionRequestInput, ExecutionResult } from '../workspace/index.ts'
import { LaneOutput } from './lane-output.ts'
import { table } from './table.ts'
import { counted } from './wording.ts'

const MILLISECONDS = 1000
const PATHS_SHOWN = 4
const STOPPED = {
  timeout: 'timed out',
  disk: 'disk limit',
  memory: 'memory limit',
  abort: 'interrupted',
} as const

/** One of several runs of a command: what came of it, or why there was none. */
export type Lane = { readonly number: number; readonly request: ExecutionRequestInput } & (
  | { readonly report: RunReport }
  | { readonly error: unknown }
)

/**
 * Runs a command several times at once, each in a fork of its own. The environment tells which it is: COPPICE_LANE. What
 * goes wrong with one of them is nothing to the others. Whoever is asked is asked once, for all of them.
 */
export function runLanes(
  boundary: Boundary,
  request: ExecutionRequestInput,
  { ask, ...options }: RunOptions,
  count: number,
): Promise<Lane[]> {
  let asked: Promise<Answer> | undefined
  const askOnce: RunOptions['ask'] = ask && ((decision, asking) => (asked ??= ask(decision, asking)))
  const lanes = Array.from({ length: count }, async (_, index): Promise<Lane> => {
    const number = index + 1
    // Part of the request: an approval is for one run, and each of these is another.
    const own = { ...request, env: { ...request.env, COPPICE_LANE: String(number) } }
    try {
      return {
        number,
        request: own,
        report: await runLane(boundary, own, { ...options, ask: askOnce }, number),
      }
    } catch (error) {
      return { number, request: own, error }
    }
  })
  return Promise.all(lanes)
}

async function runLane(
  boundary: Boundary,
  request: ExecutionRequestInput,
  { onOutput: pass, ...options }: RunOptions,
  number: number,
): Promise<RunReport> {
  const output = pass && new LaneOutput(pass, number)
  const onOutput = output?.take.bind(output)
  // One terminal cannot be read by several.
  const report = await boundary.run(request, { ...options, onOutput, stdin: undefined })
  await output?.end()
  return report
}

/** The lanes side by side: their forks, how they ended, how long they took and what they changed. */
export function laneTable(lanes: readonly Lane[]): string[] {
  const rows = lanes.map((lane) =>
    'error' in lane
      ? [String(lane.number), '-', failureOf(lane.error)]
      : [String(lane.number), ...cellsOf(lane.report)],
  )
  return table(rows)
}

function cellsOf({ result, fork }: RunReport): string[] {
  const { added, modified, deleted } = result.changed_files
  const paths = [...added, ...modified, ...deleted].sort()
  const more = paths.length > PATHS_SHOWN ? ', …' : ''
  return [
    fork ?? '-',
    endOf(result),
    `${(result.duration_ms / MILLISECONDS).toFixed(1)} s`,
    counted(paths.length, 'change'),
    paths.slice(0, PATHS_SHOWN).map(shown).join(', ') + more,
  ]
}

function endOf({ stopped, exit_code }: ExecutionResult): string {
  return stopped === undefined ? `exit ${exit_code ?? '-'}` : STOPPED[stopped]
}

function failureOf(error: unknown): string {
  return error instanceof Error && error.name === 'AbortError' ? 'not run' : 'failed'
}
