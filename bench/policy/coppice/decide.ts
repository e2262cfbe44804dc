import { decide, type ExecutionRequest, executionRequest } from '../../../src/workspace/policy/index.ts'
import type { Recorder } from '../../harness/benchmark.ts'

/** Passes are long, and the first ones are for the compiler: the grammar is a lot of code. */
const SECONDS = 0.3
const PASSES = 6
const MICROSECONDS = 1e6
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
      shell(Array.from({ length: SHELLS }).reduce<string>((line) => `sh -c ${quoteWord(line)}`, LINE)),
    ],
    [
      'script',
      shell(Array.from({ length: LINES }, (_, index) => `grep -n word${index} src/a.ts`).join('\n')),
    ],
  ]
  for (const [work, request] of works) {
    recorder.progress(work)
    recorder.note(work, Math.min(...Array.from({ length: PASSES }, () => timeDecision(request))))
  }
}

/**
 * Returns the processor seconds of one decision. It waits for nothing, and other work on the machine does not count.
 */
function timeDecision(request: ExecutionRequest): number {
  const before = process.cpuUsage()
  let [decided, seconds] = [0, 0]
  while (seconds < SECONDS) {
    for (let index = 0; index < 20; index++, decided++) {
      if (decide(request).action === 'deny') throw new Error('wrong result: denied')
    }
    const { user, system } = process.cpuUsage(before)
    seconds = (user + system) / MICROSECONDS
  }
  return seconds / decided
}

function shell(line: string): ExecutionRequest {
  return executionRequest({ vault: 'v', command: { shell: line } })
}

function quoteWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
