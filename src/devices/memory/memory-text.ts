/** One remembered entry. */
export interface MemoryEntry {
  readonly text: string
  /** Source of the entry if it is not from the agent or the person: an address, a device. */
  readonly origin?: string
}

/** Matches the origin comment. No entry can contain one: the scanner refuses them. */
const ORIGIN = /^<!-- from (\S+) -->$/
const INDENT = '  '

/** Parses the items of a Markdown list; ignores lines that are neither an item, indented nor empty. */
export function parseMemory(markdown: string): MemoryEntry[] {
  const items: string[][] = []
  for (const line of markdown.split(/\r?\n/)) {
    if (line.startsWith('- ')) items.push([line.slice(INDENT.length)])
    else if (line.startsWith(INDENT) || line.trim() === '') items.at(-1)?.push(line.slice(INDENT.length))
  }
  return items.map(parseEntry).filter(({ text }) => text !== '')
}

/** Formats entries as Markdown below a title. */
export function formatMemory(title: string, entries: readonly MemoryEntry[]): string {
  const items = entries.map(({ text, origin }) => {
    const lines = [...text.split('\n'), ...(origin === undefined ? [] : [`<!-- from ${origin} -->`])]
    return `- ${lines.map((line, index) => (index === 0 || line === '' ? line : INDENT + line)).join('\n')}\n`
  })
  return [`# ${title}\n`, ...items].join('\n')
}

/** Trims the text and the end of each line; all line breaks become `\n`. */
export function normalizeText(text: string): string {
  return text
    .split(/\r\n|\r|\n/)
    .map((line) => line.trimEnd())
    .join('\n')
    .trim()
}

/** Formats an origin as one word, so that it cannot pass for anything else. */
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
