import { appendFileSync } from 'node:fs'

/** The figures that tests count for `docs/evidence.md`, with the words they have there. */
export const figureLabels = {
  kills: 'writers killed',
  powerCuts: 'power cuts',
  bitFlips: 'bits flipped',
  failedSyncs: 'disks that fail to sync',
  fullDisks: 'disks filled',
  engineFaults: 'engine calls failed, one at a time',
  registerCalls: 'calls in concurrent histories checked',
  sharedWrites: 'writes by two processes to one vault',
  facesAppends: 'appends through four faces at once',
} as const

export type FigureName = keyof typeof figureLabels

/** One count of one test; the sum over all tests is the figure. */
export interface FigureCount {
  readonly name: FigureName
  readonly count: number
}

/** Names the file that counts are appended to. `npm run evidence` sets it. */
export const FIGURES_FILE = 'COPPICE_FIGURES'

/** Adds to a figure. Does nothing in an ordinary test run. */
export function addToFigure(name: FigureName, count = 1): void {
  const file = process.env[FIGURES_FILE]
  if (file === undefined) return
  const line: FigureCount = { name, count }
  appendFileSync(file, `${JSON.stringify(line)}\n`)
}
