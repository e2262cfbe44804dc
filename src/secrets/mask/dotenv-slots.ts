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
 * Finds the values of a file with lines `KEY=value` or `KEY: value`: dotenv with `export`, quotation marks, values of
 * several lines and comments, and INI with sections. Undefined if a line is anything else.
 * @param skipsOtherLines skips such a line instead.
 */
export function findDotenvSlots(text: string, skipsOtherLines = false): SecretSlot[] | undefined {
  const slots: SecretSlot[] = []
  const keys = new KeyCounter()
  let section = ''
  let position = 0
  const consume = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = position
    const found = pattern.exec(text) ?? undefined
    if (found !== undefined) position += found[0].length
    return found
  }
  while (position < text.length) {
    if (consume(BLANK_LINE) !== undefined) continue
    const sectionLine = consume(SECTION)
    if (sectionLine !== undefined) {
      section = `${sectionLine[1]}.`
      continue
    }
    const name = consume(KEY)?.[1]
    if (name === undefined) {
      if (!skipsOtherLines) return undefined
      consume(REST)
      continue
    }
    const start = position
    const quoted = consume(DOUBLE_QUOTED) ?? consume(SINGLE_QUOTED) ?? consume(BACK_QUOTED)
    const raw = quoted === undefined ? (consume(BARE)?.[0] ?? '').trimEnd() : quoted[0]
    const value = quoted === undefined ? raw : raw.slice(1, -1)
    slots.push({ key: keys.add(section + name), start, end: start + raw.length, value })
    consume(REST)
  }
  return slots
}
