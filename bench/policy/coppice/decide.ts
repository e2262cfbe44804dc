import { decide, type ExecutionRequest, executionRequest } from '../../../src/workspace/policy/index.ts'
import type { Recorder, Task } from '../../harness/benchmark.ts'
import { WarmUpRecorder } from '../../harness/recorder.ts'

/** Many: right after the collection before each pass decisions are slower, and small passes measure little else. */
const DECISIONS = 5000
/** Rounds before it counts: the grammar is a lot of code to compile. */
const WARM_UPS = 2
const SHELLS = 6
const LINES = 100

const LINE =
  `cd packages/app && NODE_ENV=test npm run build -- --out=dist | tee build.log && ` +
  `find dist -name '*.map' -exec rm {} + && git add -A && git commit -m "build: $(date +%F)" || echo "it failed" >> build.log`

/** Decisions about the same request again and again: nothing is kept from one to the next. */
export async function measure(recorder: Recorder): Promise<void> {
  const works: readonly (readonly [string, ExecutionRequest])[] = [
    ['argv', executionRequest({ vault: 'v', command: { argv: ['git', 'log', '--oneline', '-20'] } })],
    ['line', shell(LINE)],
    [
      'wrapped',
      shell(Array.from({ length: SHELLS }).reduce<string>((line) => `sh -c ${quoted(line)}`, LINE)),
    ],
    [
      'script',
      shell(Array.from({ length: LINES }, (_, index) => `grep -n word${index} src/a.ts`).join('\n')),
    ],
  ]
  const warmUps = Array.from({ length: WARM_UPS }, () => new WarmUpRecorder())
  for (const round of [...warmUps, recorder]) {
    for (const [work, request] of works) await round.record(work, decisions(request))
  }
}

function decisions(request: ExecutionRequest): Task {
  return {
    operations: DECISIONS,
    expected: DECISIONS,
    async pass() {
      let decided = 0
      for (let index = 0; index < DECISIONS; index++) if (decide(request).action !== 'deny') decided++
      return decided
    },
  }
}

function shell(line: string): ExecutionRequest {
  return executionRequest({ vault: 'v', command: { shell: line } })
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
