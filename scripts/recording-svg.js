// Draws a terminal session as an SVG that plays itself with CSS. Without animations, as in a viewer that has none
// or for readers who prefer less motion, it shows the last screen.

const CELL = { width: 8.43, height: 20 }
const SCREEN_HEIGHT = 520
/** Space above a prompt. */
const PROMPT_GAP = 9
const PADDING = 20
const BAR_HEIGHT = 46
const TAB_WIDTH = 92
const FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"

/** Seconds of the playback: a key, the pause before Enter, a line of output, and the time to read. */
const TIME = { key: 0.045, enter: 0.4, line: 0.05, read: 1, readLine: 0.17, end: 4 }

/** Both stand on their own background, so a page of the other kind does not matter. */
const DARK = {
  back: '#0d1117',
  bar: '#161b22',
  edge: '#30363d',
  text: '#e6edf3',
  faint: '#8b949e',
  red: '#ff7b72',
  green: '#3fb950',
  yellow: '#d29922',
  cyan: '#39c5cf',
}
const LIGHT = {
  back: '#ffffff',
  bar: '#f6f8fa',
  edge: '#d1d9e0',
  text: '#1f2328',
  faint: '#59636e',
  red: '#cf222e',
  green: '#1a7f37',
  yellow: '#8a5a00',
  cyan: '#0a6e78',
}

/** The class of each code that selects a graphic rendition. */
const STYLES = new Map([
  [1, 'bold'],
  [2, 'faint'],
  [31, 'red'],
  [32, 'green'],
  [33, 'yellow'],
  [36, 'cyan'],
])

/** Returns the SVG of commands with their output. Each belongs to one of the steps that the bar on top names. */
export function drawRecording({ steps, prompt, columns, commands }) {
  const { rows, stepTimes, duration } = layOutRows(prompt, commands)
  const keyframes = new Keyframes(duration)
  const tabs = steps.map((step, index) =>
    drawTab(step, index, stepTimes.get(step), stepTimes.get(steps[index + 1]), keyframes),
  )
  const lines = rows.map((row, index) => drawRow(row, index, keyframes))
  const scrolls = rows.map(({ y, time }) => ({ time, moved: SCREEN_HEIGHT - y - CELL.height }))
  keyframes.add('scroll', 0, 'transform: none')
  for (const { time, moved } of scrolls)
    if (moved < 0) keyframes.add('scroll', time, `transform: translateY(${moved}px)`)

  const width = Math.round(columns * CELL.width) + 2 * PADDING
  const height = BAR_HEIGHT + SCREEN_HEIGHT + 2 * PADDING - 8
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" xml:space="preserve">
<title>A terminal: ${escapeText(commands.map(({ command }) => command.replace(/ *#.*/, '')).join('; '))}</title>
<style>
text { font-size: 14px; font-family: ${FONT}; white-space: pre }
.bold { font-weight: 600 }
.typing { opacity: 0 }
${formatPalette(DARK)}
@media (prefers-color-scheme: light) {
${formatPalette(LIGHT)}
}
.row, .typing, .scroll, .tab { animation: ${duration.toFixed(2)}s step-end infinite }
.blink { animation: blink 1.2s step-end infinite }
@keyframes blink { 50% { opacity: 0 } }
${keyframes}
@media (prefers-reduced-motion: reduce) { * { animation: none !important } }
</style>
<rect class="frame" x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="10"/>
<path class="bar" d="M1 ${BAR_HEIGHT} V11 a10 10 0 0 1 10 -10 H${width - 11} a10 10 0 0 1 10 10 V${BAR_HEIGHT} Z"/>
<path class="edge" d="M1 ${BAR_HEIGHT} H${width - 1}"/>
${tabs.join('\n')}
<svg x="${PADDING}" y="${BAR_HEIGHT + PADDING - 8}" width="${width - 2 * PADDING}" height="${SCREEN_HEIGHT}" overflow="hidden">
<g class="scroll" style="animation-name: scroll" transform="translate(0 ${Math.min(0, scrolls.at(-1).moved)})">
${lines.join('\n')}
</g>
</svg>
</svg>
`
}

/** Returns every row with its place and the time it appears, when each step begins, and the length of it all. */
function layOutRows(prompt, commands) {
  const rows = []
  const stepTimes = new Map()
  let time = 0
  let y = 0
  const addRow = (row) => {
    rows.push({ time, y, ...row })
    y += CELL.height
  }
  for (const { step, command, output } of commands) {
    if (!stepTimes.has(step)) stepTimes.set(step, time)
    const start = time + TIME.read / 2
    addRow({
      spans: [span(prompt, 'cyan'), ...styleCommand(command, prompt.length)],
      typed: { column: prompt.length, count: command.length, start },
    })
    time = start + command.length * TIME.key + TIME.enter
    const lines = output.split('\r\n').slice(0, -1)
    for (const line of lines) {
      time += TIME.line
      addRow({ spans: parseSpans(line) })
    }
    time += TIME.read + lines.length * TIME.readLine
    y += PROMPT_GAP
  }
  addRow({ spans: [span(prompt, 'cyan')], cursor: prompt.length })
  return { rows, stepTimes, duration: time + TIME.end }
}

/** The command itself stands out, a comment behind it does not. */
function styleCommand(command, column) {
  const [typed = '', comment] = command.split('#')
  return [
    span(typed, 'bold', column),
    ...(comment === undefined ? [] : [span(`#${comment}`, 'faint', column + typed.length)]),
  ]
}

function span(text, style, column = 0) {
  return { text, style, column }
}

/** Cuts a line into spans of one style; it may hold no other escape sequences than those of styles. */
function parseSpans(line) {
  const spans = []
  const active = new Set()
  let column = 0
  for (const [index, part] of line.split('\u001b[').entries()) {
    const [, code = '', text = part] = (index > 0 && /^(\d*)m(.*)$/.exec(part)) || []
    if (text === part && index > 0) throw new Error(`cannot draw ${JSON.stringify(line)}`)
    if (STYLES.has(Number(code))) active.add(STYLES.get(Number(code)))
    else active.clear()
    spans.push(span(text, [...active].join(' ') || 'text', column))
    column += text.length
  }
  return spans
}

function drawRow({ time, y, spans, typed, cursor }, index, keyframes) {
  const name = `row-${index}`
  keyframes.add(name, 0, 'opacity: 0')
  keyframes.add(name, time, 'opacity: 1')
  const parts = spans.filter(({ text }) => text.trim() !== '').map((part) => drawSpan(part, y + 15))
  if (typed) parts.push(drawTyping(typed, y, `type-${index}`, keyframes))
  if (cursor) parts.push(`<g class="blink">${drawCursor(cursor, y)}</g>`)
  return `<g class="row" style="animation-name: ${name}">${parts.join('')}</g>`
}

/** The length is given, so that columns align whatever font the reader has. */
function drawSpan({ text, style, column }, y) {
  const indent = text.length - text.trimStart().length
  const shown = text.trim()
  const classes = /red|green|yellow|cyan|faint|text/.test(style) ? style : `text ${style}`
  return `<text class="${classes}" x="${place(column + indent)}" y="${y}" textLength="${place(shown.length)}">${escapeText(shown)}</text>`
}

/** Draws a cover that moves off the command key by key, with the cursor at its edge. */
function drawTyping({ column, count, start }, y, name, keyframes) {
  const end = start + count * TIME.key
  const moved = `transform: translateX(${place(count)}px)`
  keyframes.add(name, 0, 'transform: none; opacity: 1')
  keyframes.add(name, start, `transform: none; opacity: 1; animation-timing-function: steps(${count})`)
  keyframes.add(name, end, `${moved}; opacity: 1; animation-timing-function: step-end`)
  keyframes.add(name, end + TIME.enter, `${moved}; opacity: 0`)
  const cover = `<rect class="back" x="${place(column)}" y="${y}" width="${place(count + 1)}" height="${CELL.height}"/>`
  return `<g class="typing" style="animation-name: ${name}">${cover}${drawCursor(column, y)}</g>`
}

function drawCursor(column, y) {
  return `<rect class="faint" x="${place(column)}" y="${y + 1}" width="${CELL.width}" height="${CELL.height - 3}"/>`
}

/** Draws the name of a step; while the step is played it is marked. */
function drawTab(step, index, start, end, keyframes) {
  const x = PADDING - 6 + index * (TAB_WIDTH + 8)
  const name = `tab-${step}`
  const isLast = end === undefined
  keyframes.add(name, 0, `opacity: ${start === 0 ? 1 : 0}`)
  keyframes.add(name, start, 'opacity: 1')
  if (!isLast) keyframes.add(name, end, 'opacity: 0')
  const label = `${index + 1} ${step}`
  const text = (style) =>
    `<text class="${style}" x="${x + TAB_WIDTH / 2}" y="${BAR_HEIGHT / 2 + 5}" text-anchor="middle">${label}</text>`
  return `${text('faint')}<g class="tab" style="animation-name: ${name}" opacity="${isLast ? 1 : 0}"><rect class="mark" x="${x}" y="10" width="${TAB_WIDTH}" height="${BAR_HEIGHT - 20}" rx="6"/>${text('marked bold')}</g>`
}

function place(columns) {
  return Number((columns * CELL.width).toFixed(1))
}

function escapeText(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

/** Colours are written out for each class: not every viewer knows variables. */
function formatPalette({ back, bar, edge, ...inks }) {
  return [
    `.frame { fill: ${back}; stroke: ${edge} } .back { fill: ${back} } .bar { fill: ${bar} } .edge { stroke: ${edge} }`,
    `.mark { fill: ${inks.cyan} } .marked { fill: ${back} }`,
    Object.entries(inks)
      .map(([name, color]) => `.${name} { fill: ${color} }`)
      .join(' '),
  ].join('\n')
}

/** Keyframes by the name of their animation, with times in seconds. */
class Keyframes {
  #duration
  #frames = new Map()

  constructor(duration) {
    this.#duration = duration
  }

  add(name, time, style) {
    const frames = this.#frames.get(name) ?? new Map()
    this.#frames.set(name, frames.set(((100 * time) / this.#duration).toFixed(2), style))
  }

  toString() {
    return [...this.#frames]
      .map(([name, frames]) => `@keyframes ${name} { ${formatFrames(frames)} }`)
      .join('\n')
  }
}

/** The last style holds to the end. */
function formatFrames(frames) {
  return [...frames, ['100', [...frames.values()].at(-1)]]
    .map(([percent, style]) => `${percent}% { ${style} }`)
    .join(' ')
}
