import type { Boundary, BoundaryRunOptions, RunReport } from '../../../boundary/index.ts'
import { isChangeOfGit, type RefChange, summarizeGit } from '../../../git-files/index.ts'
import { escapeName } from '../../../text/index.ts'
import type { ApprovalAnswer, ExecutionRequestInput, ExecutionResult } from '../../../workspace/index.ts'
import { formatGitLines } from '../../render/format-git.ts'
import { formatCount } from '../../render/format-values.ts'
import { formatTable } from '../../render/table.ts'
import { PrefixedOutput } from './prefixed-output.ts'

const MS_PER_SECOND = 1000
const PATHS_SHOWN = 4
const STOP_REASONS = {
  timeout: 'timed out',
  disk: 'disk limit',
  memory: 'memory limit',
  abort: 'interrupted',
} as const

/** One of several runs of a command: its report or its error. */
export type LaneResult = { readonly number: number; readonly request: ExecutionRequestInput } & (
  | { readonly report: RunReport }
  | { readonly error: unknown }
)

/**
 * Runs a command several times in parallel, each in its own fork, with its number in COPPICE_LANE and in the name of
 * the fork. A failure of one leaves the others running. A person is asked once for all of them.
 */
export function runLanes(
  boundary: Boundary,
  request: ExecutionRequestInput,
  { ask, ...options }: BoundaryRunOptions,
  count: number,
): Promise<LaneResult[]> {
  let sharedAnswer: Promise<ApprovalAnswer> | undefined
  // An approval of one lane elsewhere leaves the question for the others.
  const { signal: stays } = new AbortController()
  const askOnce: BoundaryRunOptions['ask'] =
    ask && ((decision, asking) => (sharedAnswer ??= ask(decision, asking, stays)))
  const lanes = Array.from({ length: count }, async (_, index): Promise<LaneResult> => {
    const number = index + 1
    // The number is part of the request, because a stored approval is for one run only.
    const laneRequest = { ...request, env: { ...request.env, COPPICE_LANE: String(number) } }
    try {
      return {
        number,
        request: laneRequest,
        report: await runLane(boundary, laneRequest, { ...options, ask: askOnce }, number),
      }
    } catch (error) {
      return { number, request: laneRequest, error }
    }
  })
  return Promise.all(lanes)
}

async function runLane(
  boundary: Boundary,
  request: ExecutionRequestInput,
  { onOutput: forward, fork: prefix, ...options }: BoundaryRunOptions,
  number: number,
): Promise<RunReport> {
  const output = forward && new PrefixedOutput(forward, number)
  const onOutput = output?.write.bind(output)
  const fork = prefix === undefined ? undefined : `${prefix}-${number}`
  // Several commands cannot read one terminal.
  const report = await boundary.run(request, { ...options, fork, onOutput, stdin: undefined })
  await output?.end()
  return report
}

/** Formats the lanes as a table: fork, outcome, duration and changes. */
export function formatLaneTable(lanes: readonly LaneResult[]): string[] {
  const rows = lanes.map((lane) =>
    'error' in lane
      ? [String(lane.number), '-', formatFailure(lane.error)]
      : [String(lane.number), ...toCells(lane.report)],
  )
  return formatTable(rows)
}

function toCells({ result, fork }: RunReport): string[] {
  const { collapsed = {} } = result.changed_files
  const changes = listChanges(result)
  const paths = changes.filter((change) => !isChangeOfGit(change)).map(({ path }) => path)
  const git = formatGitLines(summarizeGit(changes.filter(isChangeOfGit)))
  const count = paths.reduce((sum, path) => sum + (collapsed[path] ?? 1), git.length)
  const shown =
    paths.length > PATHS_SHOWN ? [...paths.slice(0, PATHS_SHOWN).map(escapeName), '…'] : paths.map(escapeName)
  return [
    fork ?? '-',
    formatExit(result),
    `${(result.duration_ms / MS_PER_SECOND).toFixed(1)} s`,
    formatCount(count, 'change'),
    [...shown, ...git].join(', '),
  ]
}

function listChanges({ changed_files: { added, modified, deleted } }: ExecutionResult): RefChange[] {
  const toChanges = (paths: readonly string[], kind: RefChange['kind']) =>
    paths.map((path) => ({ path, kind }))
  const changes = [
    ...toChanges(added, 'added'),
    ...toChanges(modified, 'modified'),
    ...toChanges(deleted, 'deleted'),
  ]
  return changes.sort((one, other) => (one.path < other.path ? -1 : 1))
}

function formatExit({ stopped, exit_code }: ExecutionResult): string {
  return stopped === undefined ? `exit ${exit_code ?? '-'}` : STOP_REASONS[stopped]
}

function formatFailure(error: unknown): string {
  return error instanceof Error && error.name === 'AbortError' ? 'not run' : 'failed'
}
