import { KeyCounter, type SecretSlot } from './secret-slot.ts'

const BLANK_LINE = /[ \t]*(?:[#;][^\n]*)?(?:\r?\n|$)/y
const SECTION = /[ \t]*\[([^\]\n]+)\][ \t]*(?:[#;][^\n]*)?(?:\r?\n|$)/y
const KEY = /[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.-]*)[ \t]*[=:][ \t]*/y
const DOUBLE_QUOTED = /"(?:\\[\s\S]|[^"\\])*"/y
const SINGLE_QUOTED = /'[^']*'/y
const BACK_QUOTED = /`[^`]*`/y
const BARE = /[^\n#]*(?:(?<=\S)#[^\n#]*)*/y
const REST = /[^\n]*(?:\n|$)/y

/**
 * Finds the values of a file with lines `KEY=value`: dotenv with `export`, quotation marks, values of several lines and
 * comments, and INI with sections. Undefined if a line is anything else, unless such lines are to be skipped.
 */
export function findDotenvSlots(text: string, skipsOthers = false): SecretSlot[] | undefined {
  const slots: SecretSlot[] = []
  const keys = new KeyCounter()
  let section = ''
  let at = 0
  const match = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at
    const found = pattern.exec(text) ?? undefined
    if (found !== undefined) at += found[0].length
    return found
  }
  while (at < text.length) {
    if (match(BLANK_LINE) !== undefined) continue
    const opened = match(SECTION)
    if (opened !== undefined) {
      section = `${opened[1]}.`
      continue
    }
    const name = match(KEY)?.[1]
    if (name === undefined) {
      if (!skipsOthers) return undefined
      match(REST)
      continue
    }
    const start = at
    const quoted = match(DOUBLE_QUOTED) ?? match(SINGLE_QUOTED) ?? match(BACK_QUOTED)
    const raw = quoted === undefined ? (match(BARE)?.[0] ?? '').trimEnd() : quoted[0]
    const value = quoted === undefined ? raw : raw.slice(1, -1)
    slots.push({ key: keys.add(section + name), start, end: start + raw.length, value })
    match(REST)
  }
  return slots
}
