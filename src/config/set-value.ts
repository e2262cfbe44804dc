/** Returns the document with one top-level setting set, or removed if there is no value. The rest stays unchanged. */
export function setTopLevelValue(text: string, key: string, value: string | undefined): string {
  const setting = `(\\s*(?:${key}|"${key}"|'${key}')\\s*=\\s*)(?:"[^"]*"|'[^']*')`
  const [top, tables] = splitAtFirstTable(text)
  if (value === undefined) return top.replace(new RegExp(`^${setting}.*(?:\\n|$)`, 'm'), '') + tables
  const line = new RegExp(`^${setting}`, 'm')
  const literal = JSON.stringify(value)
  if (line.test(top)) return top.replace(line, (_match, start: string) => start + literal) + tables
  const gap = top === '' || top.endsWith('\n') ? '' : '\n'
  const blankLine = tables === '' ? '' : '\n'
  return `${top}${gap}${key} = ${literal}\n${blankLine}${tables}`
}

/** Splits a document at its first table, where the top level ends. */
function splitAtFirstTable(text: string): [top: string, tables: string] {
  const start = text.search(/^[ \t]*\[/m)
  return start === -1 ? [text, ''] : [text.slice(0, start), text.slice(start)]
}
