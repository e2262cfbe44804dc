import type { Boundary, RunOptions, RunReport } from '../server/boundary/index.ts'
import { shown } from '../server/text/index.ts'
import type { ExecutionRequestInput } from '../workspace/index.ts'
import { table } from './table.ts'
import { counted } from './wording.ts'

const MILLISECONDS = 1000
const PATHS_SHOWN = 4

type Pass = NonNullable<RunOptions['onOutput']>

/** Runs a command several times at once, each in a fork of its own. The environment tells which it is: COPPICE_LANE. */
export function runLanes(
  boundary: Boundary,
  request: ExecutionRequestInput,
  { onOutput: pass, ...options }: RunOptions,
  count: number,
): Promise<RunReport[]> {
  const lanes = Array.from({ length: count }, async (_, index) => {
    const output = pass && new LaneOutput(pass, index + 1)
    const env = { ...options.env, COPPICE_LANE: String(index + 1) }
    const onOutput = output?.take.bind(output)
    // One terminal cannot be read by several.
    const report = await boundary.run(request, { ...options, env, onOutput, stdin: undefined })
    output?.end()
    return report
  })
  return Promise.all(lanes)
}

/** The lanes side by side: their forks, how they ended, how long they took and what they changed. */
export function laneTable(reports: readonly RunReport[]): string[] {
  const rows = reports.map(({ result, fork }, index) => {
    const { added, modified, deleted } = result.changed_files
    const paths = [...added, ...modified, ...deleted].sort()
    const more = paths.length > PATHS_SHOWN ? ', …' : ''
    return [
      String(index + 1),
      fork ?? '-',
      result.timed_out ? 'timed out' : `exit ${result.exit_code ?? '-'}`,
      `${(result.duration_ms / MILLISECONDS).toFixed(1)} s`,
      counted(paths.length, 'change'),
      paths.slice(0, PATHS_SHOWN).map(shown).join(', ') + more,
    ]
  })
  return table(rows)
}

/** Hands on what a lane writes, line by line, with its number before each. */
class LaneOutput {
  readonly #pass: Pass
  readonly #lane: number
  readonly #rests = { stdout: '', stderr: '' }
  /** A character may come in two pieces. */
  readonly #decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() }

  constructor(pass: Pass, lane: number) {
    this.#pass = pass
    this.#lane = lane
  }

  /** Fulfilled when all of it is handed on. */
  take(stream: 'stdout' | 'stderr', chunk: Uint8Array): Promise<unknown> {
    const text = this.#decoders[stream].decode(chunk, { stream: true })
    const lines = (this.#rests[stream] + text).split('\n')
    this.#rests[stream] = lines.pop() ?? ''
    return Promise.all(lines.map((line) => this.#write(stream, line)))
  }

  /** Writes what came without an end of line. */
  end(): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      const rest = this.#rests[stream] + this.#decoders[stream].decode()
      if (rest !== '') this.#write(stream, rest)
    }
  }

  #write(stream: 'stdout' | 'stderr', line: string): unknown {
    return this.#pass(stream, Buffer.from(`[${this.#lane}] ${line}\n`))
  }
}
