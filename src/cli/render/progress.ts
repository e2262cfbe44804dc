import type { Terminal } from '../framework/terminal.ts'
import { formatBytes, formatCount, formatNumber } from './format-values.ts'

const BAR_CELLS = 24
const REDRAW_INTERVAL_MS = 100
/** Shorter work shows no bar. */
const SHOW_DELAY_MS = 300
const CLEAR_LINE = '\r\u001b[K'

/** Progress of long work. Without a total, a count replaces the bar. */
export interface ProgressUpdate {
  readonly done: number
  readonly total?: number
  readonly bytes?: number
}

/** Runs long work with a progress line on stderr, if a person watches. The line disappears at the end. */
export async function withProgress<Result>(
  terminal: Terminal,
  label: string,
  unit: string,
  work: (report: (progress: ProgressUpdate) => void) => Promise<Result>,
): Promise<Result> {
  if (!terminal.showsProgress) return work(() => {})
  let isDrawn = false
  let nextAt = performance.now() + SHOW_DELAY_MS
  const report = (progress: ProgressUpdate) => {
    const now = performance.now()
    if (now < nextAt) return
    nextAt = now + REDRAW_INTERVAL_MS
    isDrawn = true
    terminal.err.write(CLEAR_LINE + formatProgress(label, unit, progress).slice(0, getLineWidth(terminal)))
  }
  try {
    return await work(report)
  } finally {
    if (isDrawn) terminal.err.write(CLEAR_LINE)
  }
}

/** Returns the width to cut a line to. A wider line would wrap, and the wrapped rest would not be cleared. */
function getLineWidth({ err }: Terminal): number | undefined {
  return 'columns' in err && typeof err.columns === 'number' && err.columns > 0 ? err.columns - 1 : undefined
}

function formatProgress(label: string, unit: string, { done, total, bytes }: ProgressUpdate): string {
  const amount = bytes === undefined ? '' : `, ${formatBytes(bytes)}`
  if (total === undefined || total === 0) return `${label} ${formatCount(done, unit)}${amount}`
  const part = Math.min(1, done / total)
  const cells = Math.round(part * BAR_CELLS)
  const bar = '█'.repeat(cells) + '░'.repeat(BAR_CELLS - cells)
  const percent = `${Math.floor(part * 100)}%`.padStart(4)
  return `${label} ${bar}${percent} ${formatNumber(done)}/${formatCount(total, unit)}${amount}`
}
