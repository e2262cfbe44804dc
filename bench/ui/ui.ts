import type { Benchmark } from '../harness/benchmark.ts'
import { createSubjectFactory, time } from '../harness/entries.ts'
import { Targets } from '../harness/targets.ts'

const MILLISECOND = 1e-3
/** 60 frames a second, less the last one that is not whole. */
const FRAME = 1 / 59
const subject = createSubjectFactory(import.meta.url)
const ours = new Targets('coppice')

/** The page of a home in a real browser, on the real server. */
export const ui: Benchmark = {
  name: 'ui',
  summary: 'the page of coppice ui in a browser',
  subjects: [
    subject('coppice', {
      home: './coppice/home.ts',
      compare: './coppice/compare.ts',
      files: './coppice/files.ts',
    }),
  ],
  works: [
    { id: 'busy', label: 'main thread with 1,000 processes and 200 steps a second', unit: 'times' },
    time('compare-first', 'open 10,000 changed files in a server that has just started'),
    time('compare', 'open them after another change'),
    time('compare-again', 'open them again'),
    time('hunk', 'show the hunks of another file'),
    time('change', 'from a write in a vault to the page'),
    time('moment', 'show the files of another of 100,000 moments'),
    time('frame', 'a frame while the slider is dragged over them'),
  ],
  targets: [
    ours.atMost(0.3, 'busy', 'main thread busy with 1,000 processes'),
    ours.within(300 * MILLISECOND, 'compare', 'comparison of 10,000 changed files'),
    ours.within(50 * MILLISECOND, 'hunk', 'hunks of a file'),
    ours.within(150 * MILLISECOND, 'change', 'a change in a vault'),
    ours.within(50 * MILLISECOND, 'moment', 'one of 100,000 moments'),
    ours.within(FRAME, 'frame', 'a frame of the slider'),
  ],
  notes: [
    'Chromium without a screen, driven by playwright-core. The page takes the times of a comparison itself, from the start of its navigation or from the key.',
    'Moments are asked for as the page does it, without drawing. Needs npm run build and /usr/bin/chromium.',
  ],
  hasQuickForm: true,
}
