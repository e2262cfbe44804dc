import type { Benchmark } from '../harness/benchmark.ts'
import { Targets } from '../harness/targets.ts'

const MICROSECOND = 1e-6

/** Time of a decision about a command; every command of an agent waits for one. */
export const policy: Benchmark = {
  name: 'policy',
  summary: 'decisions about commands',
  subjects: [
    { name: 'coppice', parts: [{ name: 'decide', module: new URL('./coppice/decide.ts', import.meta.url) }] },
  ],
  works: [
    { id: 'argv', label: 'git log --oneline -20, as argv', unit: 'time' },
    { id: 'line', label: 'a line of 200 characters', unit: 'time' },
    { id: 'wrapped', label: 'the same in six shells, one in the other', unit: 'time' },
    { id: 'script', label: 'a script of 100 lines', unit: 'time' },
  ],
  targets: [new Targets('coppice').within(100 * MICROSECOND, 'line', 'a line of 200 characters')],
  notes: ['Policy alone, warm: nothing is opened or run. Processor time.'],
}
