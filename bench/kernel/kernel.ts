import type { Benchmark } from '../harness/benchmark.ts'
import { bytes, createSubjectFactory, rate, time } from '../harness/entries.ts'
import { Targets } from '../harness/targets.ts'

const [MILLISECOND, MICROSECOND, GIGABYTE] = [1e-3, 1e-6, 1e9]
const subject = createSubjectFactory(import.meta.url)
const ours = new Targets('coppice')

/** Time that the kernel adds to that of the models. */
export const kernel: Benchmark = {
  name: 'kernel',
  summary: 'agents as processes',
  subjects: [
    subject('coppice', {
      processes: './coppice/processes.ts',
      home: './coppice/home.ts',
      daemon: './coppice/daemon.ts',
    }),
  ],
  works: [
    time('spawn', 'spawn to the first request to the model'),
    time('step', 'a step with 64 messages, the model aside'),
    time('record', 'record a step, after ten others'),
    time('late record', 'record a step, after ten thousand others'),
    rate('many', 'steps of 1,000 processes of a home at once, 10 each'),
    time('processor', 'time of the processor for each of them'),
    bytes('memory', 'memory with all of them'),
    rate('bare', 'the same steps of a kernel without a home'),
    time('home spawn', 'spawn in a home, with its namespace'),
    time('status', 'read /proc/N/status'),
    time('traced', 'the same step while it is traced'),
    time('request', 'a request to the daemon, and its answer'),
    time('device', 'a read of a device that is open in the daemon'),
    time('token', 'from the first token of a model to a client that follows'),
  ],
  targets: [
    ours.within(0.3 * MILLISECOND, 'spawn', 'spawn to the first request'),
    ours.within(MILLISECOND, 'step', 'a step with 64 messages'),
    ours.slowdown('recording a step takes as long after 10,000', 1.5, 'late record', 'record'),
    ours.perSecond(3000, 'many', 'steps of 1,000 processes'),
    ours.below(GIGABYTE, 'memory', 'memory of 1,000 processes'),
    ours.within(50 * MICROSECOND, 'status', 'read /proc/N/status'),
    ours.within(MILLISECOND, 'request', 'a request to the daemon'),
    ours.within(20 * MILLISECOND, 'token', 'the first token of a stream'),
    ours.slowdown('being traced costs at most 10 %', 1.1, 'traced', 'step'),
  ],
  notes: [
    'The model is a device that answers at once. Steps are recorded in files, as in the daemon.',
    'Processes of a home have guard, output cache, events and records: each searches a file once and reads eight pages of it.',
  ],
}
