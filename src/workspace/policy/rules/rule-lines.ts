/** Line numbers of the tables and keys of a policy file. */
export interface RuleLines {
  /** Returns the line, from 1, of a key in a table, else of the table. A rule goes by its number, the top by ''. */
  findLine(table: string | number, key?: string): number
}

const STRINGS = /"""(?:\\.|[^\\])*?"{3,5}|'''.*?'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|#[^\n]*/gs

/** Finds the lines in valid TOML, whose tables and keys are plain once strings and comments are removed. */
export function parseRuleLines(text: string): RuleLines {
  const lines = new Map<string, number>()
  let table = ''
  let rules = 0
  // Quotes around a key are removed; line ends stay, so that lines still count.
  const bare = text.replaceAll(STRINGS, (part) =>
    /^["'][\w-]+["']$/.test(part) ? part.slice(1, -1) : part.replaceAll(/[^\n]/g, ' '),
  )
  for (const [index, line] of bare.split('\n').entries()) {
    const [, bracket, name] = line.match(/^\s*(\[\[?)\s*([\w-]+)\s*\]/) ?? []
    const [, key] = line.match(/^\s*([\w-]+)\s*[.=]/) ?? []
    if (bracket !== undefined) table = name === 'rule' ? `${rules++}` : `${name}`
    if (bracket !== undefined) addLine(lines, table, index + 1)
    else if (key !== undefined) addLine(lines, `${table}.${key}`, index + 1)
  }
  return {
    findLine(table, key = '') {
      return lines.get(`${table}.${key}`) ?? lines.get(table === '' ? key : `${table}`) ?? 1
    },
  }
}

function addLine(lines: Map<string, number>, name: string, line: number): void {
  if (!lines.has(name)) lines.set(name, line)
}
