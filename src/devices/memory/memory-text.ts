/** One thing that is remembered. */
export interface MemoryEntry {
  readonly text: string
  /** Where it came from, if not from the agent or the person: an address, a device. */
  readonly origin?: string
}

/** No entry can hold such a comment: the scanner refuses them. */
const ORIGIN = /^<!-- from (\S+) -->$/
const INDENT = '  '

/** Entries as items of a Markdown list. Lines that belong to no item are nobody's. */
export function parseMemory(markdown: string): MemoryEntry[] {
  const items: string[][] = []
  for (const line of markdown.split(/\r?\n/)) {
    if (line.startsWith('- ')) items.push([line.slice(INDENT.length)])
    else if (line.startsWith(INDENT) || line.trim() === '') items.at(-1)?.push(line.slice(INDENT.length))
  }
  return items.map(parseEntry).filter(({ text }) => text !== '')
}

/** The other way round, below a title. */
export function formatMemory(title: string, entries: readonly MemoryEntry[]): string {
  const items = entries.map(({ text, origin }) => {
    const lines = [...text.split('\n'), ...(origin === undefined ? [] : [`<!-- from ${origin} -->`])]
    return `- ${lines.map((line, at) => (at === 0 || line === '' ? line : INDENT + line)).join('\n')}\n`
  })
  return [`# ${title}\n`, ...items].join('\n')
}

/** A text as it is kept: no spaces at the ends of its lines, no empty lines around it. */
export function normalizeText(text: string): string {
  return text
    .split(/\r\n|\r|\n/)
    .map((line) => line.trimEnd())
    .join('\n')
    .trim()
}

/** As one word, so that it cannot pass for anything but an origin. */
export function normalizeOrigin(origin: string): string {
  return origin
    .toWellFormed()
    .trim()
    .replaceAll(/[\s<>\p{C}]/gu, encodeURIComponent)
}

function parseEntry(lines: readonly string[]): MemoryEntry {
  const text = normalizeText(lines.join('\n'))
  const [last = '', ...rest] = text.split('\n').reverse()
  const [, origin] = last.match(ORIGIN) ?? []
  return origin === undefined ? { text } : { text: normalizeText(rest.reverse().join('\n')), origin }
}
