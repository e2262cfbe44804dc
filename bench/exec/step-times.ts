/** Preloaded into a run of `coppice exec`: writes the milliseconds of each step to a file. */
import { tracingChannel } from 'node:diagnostics_channel'
import { writeFileSync } from 'node:fs'

const STEPS = ['gate', 'baseline', 'session', 'run', 'summarise', 'result']
const times: Record<string, number> = {}

for (const step of STEPS) {
  let begun = 0
  const noop = () => {}
  tracingChannel(`coppice:exec:${step}`).subscribe({
    start: () => {
      begun = performance.now()
    },
    asyncEnd: () => {
      times[step] = performance.now() - begun
    },
    end: noop,
    asyncStart: noop,
    error: noop,
  })
}

process.on('exit', () => writeFileSync(process.env['STEP_TIMES'] ?? '', JSON.stringify(times)))
