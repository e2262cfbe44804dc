import type { Terminal } from './terminal.ts'
import { bytesText, counted } from './wording.ts'

const BAR_CELLS = 24
const PAUSE_MS = 100
/** What is over sooner needs no bar. */
const PATIENCE_MS = 300
const CLEAR_LINE = '\r\u001b[K'

/** How far a long piece of work is. Without a total there is a count and no bar. */
export interface Progress {
  readonly done: number
  readonly total?: number
  readonly bytes?: number
}

/** Runs long work with a line of progress on stderr, where a person is watching; the line is gone at the end. */
export async function withProgress<Result>(
  terminal: Terminal,
  label: string,
  unit: string,
  work: (report: (progress: Progress) => void) => Promise<Result>,
): Promise<Result> {
  if (!terminal.showsProgress) return work(() => {})
  let isDrawn = false
  let nextAt = performance.now() + PATIENCE_MS
  const report = (progress: Progress) => {
    const now = performance.now()
    if (now < nextAt) return
    nextAt = now + PAUSE_MS
    isDrawn = true
    terminal.err.write(CLEAR_LINE + drawn(label, unit, progress).slice(0, room(terminal)))
  }
  try {
    return await work(report)
  } finally {
    if (isDrawn) terminal.err.write(CLEAR_LINE)
  }
}

/** A line that is wider than the screen goes on in the next one, where it is not cleared. */
function room({ err }: Terminal): number | undefined {
  return 'columns' in err && typeof err.columns === 'number' && err.columns > 0 ? err.columns - 1 : undefined
}

function drawn(label: string, unit: string, { done, total, bytes }: Progress): string {
  const amount = bytes === undefined ? '' : `, ${bytesText(bytes)}`
  if (total === undefined || total === 0) return `${label} ${counted(done, unit)}${amount}`
  const part = Math.min(1, done / total)
  const cells = Math.round(part * BAR_CELLS)
  const bar = '█'.repeat(cells) + '░'.repeat(BAR_CELLS - cells)
  const percent = `${Math.floor(part * 100)}%`.padStart(4)
  return `${label} ${bar}${percent} ${done.toLocaleString('en')}/${counted(total, unit)}${amount}`
}
