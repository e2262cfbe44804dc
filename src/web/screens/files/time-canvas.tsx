import type { VNode } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { JournalBuckets } from '../../../web-api/index.ts'
import { pickColour } from '../../parts/author.ts'
import type { SeqRange } from './seq-range.ts'

const HEIGHT = 40
/** Width of a bar at most, so that a few rows do not look like blocks. */
const MAX_BAR = 24

export interface TimeCanvasProps {
  readonly journal: JournalBuckets
  readonly range: SeqRange
  readonly seq: number
}

/** The history as one picture: bars for changes, coloured by author, lines for checkpoints, and the moment. */
export function TimeCanvas({ journal, range, seq }: TimeCanvasProps): VNode {
  const canvas = useRef<HTMLCanvasElement>(null)
  const [width, setWidth] = useState(0)
  const [theme, setTheme] = useState(0)
  useLayoutEffect(() => watchWidth(canvas.current, setWidth), [])
  useEffect(() => watchTheme(() => setTheme((count) => count + 1)), [])
  useLayoutEffect(() => {
    if (canvas.current !== null && width > 0) draw(canvas.current, width, { journal, range, seq })
  }, [journal, range.from, range.to, seq, width, theme])
  return <canvas ref={canvas} class="time-canvas" height={HEIGHT} />
}

function draw(canvas: HTMLCanvasElement, width: number, { journal, range, seq }: TimeCanvasProps): void {
  const scale = devicePixelRatio
  canvas.width = Math.round(width * scale)
  canvas.height = HEIGHT * scale
  const context = canvas.getContext('2d')
  if (context === null) return
  context.scale(scale, scale)
  const style = getComputedStyle(canvas)
  const colour = (name: string) => style.getPropertyValue(name)
  // A row ends where its slot does: the last one at the right edge.
  const toX = (row: number) => ((row - range.from + 1) / (range.to - range.from + 1)) * width
  const busiest = Math.max(1, ...journal.buckets.map(({ rows }) => rows))
  for (const bucket of journal.buckets) {
    const right = toX(bucket.to)
    const wide = Math.min(MAX_BAR, Math.max(1.5, right - toX(bucket.from - 1) - 0.5))
    // The busiest moment must not make the others invisible.
    const height = 4 + (HEIGHT - 12) * (Math.log1p(bucket.rows) / Math.log1p(busiest))
    let top = HEIGHT - height
    // Everything behind the moment is still to come.
    context.globalAlpha = bucket.from > seq ? 0.3 : 0.85
    for (const { author, rows } of bucket.authors) {
      const part = (height * rows) / bucket.rows
      context.fillStyle = colour(`--author-${pickColour(author)}`)
      context.fillRect(right - wide, top, wide, part)
      top += part
    }
  }
  context.globalAlpha = 1
  context.fillStyle = colour('--ink-soft')
  for (const { seq: row } of journal.checkpoints) context.fillRect(toX(row) - 1, 0, 1, HEIGHT)
  context.fillStyle = colour('--ink')
  context.fillRect(toX(seq) - 2, 0, 2, HEIGHT)
}

function watchWidth(
  canvas: HTMLCanvasElement | null,
  setWidth: (width: number) => void,
): (() => void) | undefined {
  const box = canvas?.parentElement
  if (box == null) return undefined
  const observer = new ResizeObserver(() => setWidth(box.clientWidth))
  observer.observe(box)
  setWidth(box.clientWidth)
  return () => observer.disconnect()
}

function watchTheme(onChange: () => void): () => void {
  const query = matchMedia('(prefers-color-scheme: dark)')
  query.addEventListener('change', onChange)
  return () => query.removeEventListener('change', onChange)
}
