/** Finds the line of each key of a TOML document. */
export interface KeyLines {
  /** Returns the line, from 1, that sets a key or opens its table, or that of its nearest parent. */
  getLine(keys: readonly (string | number)[]): number
}

/**
 * Finds the line of every key: tables, dotted and quoted keys, inline tables and elements of arrays. The text must be
 * valid TOML, so the structure can be read without parsing values.
 */
export function scanKeyLines(text: string): KeyLines {
  const lines = new KeyScanner(text).scan()
  return {
    getLine(keys) {
      for (let length = keys.length; length > 0; length--) {
        const line = lines.get(encodeKeys(keys.slice(0, length)))
        if (line !== undefined) return line
      }
      return 1
    },
  }
}

type Keys = readonly (string | number)[]

/** Encodes keys as one string for lookups. */
function encodeKeys(keys: Keys): string {
  return JSON.stringify(keys.map(String))
}

const BLANK = /[ \t]*/y
const BLANK_LINES = /(?:[ \t\r\n]|#[^\n]*)*/y
const BARE_KEY = /[A-Za-z0-9_-]+/y
const BARE_VALUE = /[^,\]}\n#]*/y
/**
 * The four kinds of strings. The long ones come first, since a short one would match their quotes as an empty string.
 */
const STRING = /"""(?:\\.|[^\\])*?"{3,5}|'''.*?'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*'/sy

class KeyScanner {
  readonly #text: string
  readonly #lines = new Map<string, number>()
  #at = 0
  /** Line number of `#counted`, which follows `#at`. */
  #line = 1
  #countedTo = 0

  constructor(text: string) {
    this.#text = text
  }

  scan(): ReadonlyMap<string, number> {
    let table: Keys = []
    for (this.#match(BLANK_LINES); this.#at < this.#text.length; this.#match(BLANK_LINES)) {
      const start = this.#at
      if (this.#text[this.#at] === '[') table = this.#readTable()
      else this.#readSetting(table)
      // The text is not valid TOML: return the lines found so far instead of looping forever.
      if (this.#at === start) break
    }
    return this.#lines
  }

  /** Reads `[a.b]` or `[[a.b]]`; returns the key of the table. */
  #readTable(): Keys {
    this.#match(/\[+/y)
    const keys = this.#readKeys([])
    this.#match(BLANK)
    this.#match(/\]+/y)
    return keys
  }

  /** Reads `a.b = value`. */
  #readSetting(table: Keys): void {
    const keys = this.#readKeys(table)
    this.#match(/[ \t]*=[ \t]*/y)
    this.#readValue(keys)
  }

  /** Reads a dotted key below another, and records the line of each new part. */
  #readKeys(above: Keys): Keys {
    let keys = above
    do {
      this.#match(BLANK)
      const quoted = this.#match(STRING)
      keys = [...keys, quoted === '' ? this.#match(BARE_KEY) : unquoteKey(quoted)]
      this.#recordLine(keys)
      this.#match(BLANK)
    } while (this.#match(/\./y) !== '')
    return keys
  }

  #readValue(keys: Keys): void {
    const first = this.#text[this.#at]
    if (first === '[') this.#readElements(']', (index) => this.#readElement([...keys, index]))
    else if (first === '{') this.#readElements('}', () => this.#readSetting(keys))
    else if (this.#match(STRING) === '') this.#match(BARE_VALUE)
  }

  #readElement(keys: Keys): void {
    this.#recordLine(keys)
    this.#readValue(keys)
  }

  /** Reads a comma-separated list between brackets or braces. */
  #readElements(end: string, read: (index: number) => void): void {
    this.#at++
    for (let index = 0; this.#at < this.#text.length; index++) {
      this.#match(BLANK_LINES)
      if (this.#text[this.#at] === end) break
      read(index)
      this.#match(BLANK_LINES)
      if (this.#match(/,/y) === '') break
    }
    this.#match(BLANK_LINES)
    if (this.#text[this.#at] === end) this.#at++
  }

  #recordLine(keys: Keys): void {
    const name = encodeKeys(keys)
    if (!this.#lines.has(name)) this.#lines.set(name, this.#getCurrentLine())
  }

  #getCurrentLine(): number {
    for (; this.#countedTo < this.#at; this.#countedTo++)
      if (this.#text[this.#countedTo] === '\n') this.#line++
    return this.#line
  }

  /** Returns the match of a sticky pattern here, or an empty string. */
  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const [taken = ''] = pattern.exec(this.#text) ?? []
    this.#at += taken.length
    return taken
  }
}

/** TOML has the escapes of JSON, except for long code points. */
function unquoteKey(key: string): string {
  if (key.startsWith("'")) return key.slice(1, -1)
  return key
    .slice(1, -1)
    .replaceAll(/\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{2})|(.))/g, (_all, ...parts) => {
      const [short, long, byte, letter] = parts
      const code = short ?? long ?? byte
      if (code !== undefined) return String.fromCodePoint(Number.parseInt(code, 16))
      return ESCAPES.get(letter) ?? letter
    })
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['b', '\b'],
  ['t', '\t'],
  ['n', '\n'],
  ['f', '\f'],
  ['r', '\r'],
  ['e', '\u001b'],
])
