import type { Benchmark } from '../harness/benchmark.ts'
import { bytes, rate, subjectsOf, time } from '../harness/entries.ts'
import { Targets } from '../harness/targets.ts'

const [MILLISECOND, MICROSECOND, GIB] = [1e-3, 1e-6, 2 ** 30]
const subject = subjectsOf(import.meta.url)
const ours = new Targets('coppice')

/** Time that the kernel adds to that of the models. */
export const kernel: Benchmark = {
  name: 'kernel',
  summary: 'agents as processes',
  subjects: [subject('coppice', { processes: './coppice/processes.ts', daemon: './coppice/daemon.ts' })],
  works: [
    time('spawn', 'spawn to the first request to the model'),
    time('step', 'a step with 64 messages, the model aside'),
    rate('many', 'steps of 1,000 processes at once, 10 each'),
    bytes('memory', 'memory with all of them'),
    time('status', 'read /proc/N/status'),
    time('traced', 'the same step while it is traced'),
    time('request', 'a request to the daemon, and its answer'),
    time('device', 'a read of a device that is open in the daemon'),
  ],
  targets: [
    ours.within(2 * MILLISECOND, 'spawn', 'spawn to the first request'),
    ours.within(MILLISECOND, 'step', 'a step with 64 messages'),
    ours.perSecond(2000, 'many', 'steps of 1,000 processes'),
    ours.below(GIB, 'memory', 'memory of 1,000 processes'),
    ours.within(50 * MICROSECOND, 'status', 'read /proc/N/status'),
    ours.within(MILLISECOND, 'request', 'a request to the daemon'),
    ours.slowdown('being traced costs at most 10 %', 1.1, 'traced', 'step'),
  ],
  notes: ['The model is a device that answers at once. Steps are recorded in files, as in the daemon.'],
}
