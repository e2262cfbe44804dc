/** Where each key of a TOML document stands. */
export interface KeyLines {
  /** The line, from 1, that sets a key, or opens its table, or does so for the nearest key above it. */
  lineOf(keys: readonly (string | number)[]): number
}

/**
 * Finds the line of every key: tables, dotted and quoted keys, inline tables and the elements of arrays.
 * The text must be valid TOML, which makes its structure plain to see without understanding any value.
 */
export function keyLines(text: string): KeyLines {
  const lines = new KeyScanner(text).scan()
  return {
    lineOf(keys) {
      for (let length = keys.length; length > 0; length--) {
        const line = lines.get(nameOf(keys.slice(0, length)))
        if (line !== undefined) return line
      }
      return 1
    },
  }
}

type Keys = readonly (string | number)[]

/** As one string, so that it can be looked up. */
function nameOf(keys: Keys): string {
  return JSON.stringify(keys.map(String))
}

const BLANK = /[ \t]*/y
const BLANK_LINES = /(?:[ \t\r\n]|#[^\n]*)*/y
const BARE_KEY = /[A-Za-z0-9_-]+/y
const BARE_VALUE = /[^,\]}\n#]*/y
/** The four kinds of strings; the long ones first, since the short ones would take their quotes for an empty string. */
const STRING = /"""(?:\\.|[^\\])*?"{3,5}|'''.*?'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*'/sy

class KeyScanner {
  readonly #text: string
  readonly #lines = new Map<string, number>()
  #at = 0
  /** The line of `#counted`, which follows `#at`. */
  #line = 1
  #counted = 0

  constructor(text: string) {
    this.#text = text
  }

  scan(): ReadonlyMap<string, number> {
    let table: Keys = []
    for (this.#take(BLANK_LINES); this.#at < this.#text.length; this.#take(BLANK_LINES)) {
      const start = this.#at
      if (this.#text[this.#at] === '[') table = this.#table()
      else this.#setting(table)
      // Not TOML after all: better the lines found so far than a search without end.
      if (this.#at === start) break
    }
    return this.#lines
  }

  /** `[a.b]` or `[[a.b]]`; the key to which what follows belongs. */
  #table(): Keys {
    this.#take(/\[+/y)
    const keys = this.#keys([])
    this.#take(BLANK)
    this.#take(/\]+/y)
    return keys
  }

  /** `a.b = value`. */
  #setting(table: Keys): void {
    const keys = this.#keys(table)
    this.#take(/[ \t]*=[ \t]*/y)
    this.#value(keys)
  }

  /** A dotted key below another; each part that is new is noted with its line. */
  #keys(above: Keys): Keys {
    let keys = above
    do {
      this.#take(BLANK)
      const quoted = this.#take(STRING)
      keys = [...keys, quoted === '' ? this.#take(BARE_KEY) : unquoted(quoted)]
      this.#note(keys)
      this.#take(BLANK)
    } while (this.#take(/\./y) !== '')
    return keys
  }

  #value(keys: Keys): void {
    const first = this.#text[this.#at]
    if (first === '[') this.#elements(']', (index) => this.#element([...keys, index]))
    else if (first === '{') this.#elements('}', () => this.#setting(keys))
    else if (this.#take(STRING) === '') this.#take(BARE_VALUE)
  }

  #element(keys: Keys): void {
    this.#note(keys)
    this.#value(keys)
  }

  /** What stands between brackets or braces, with commas in between. */
  #elements(end: string, read: (index: number) => void): void {
    this.#at++
    for (let index = 0; this.#at < this.#text.length; index++) {
      this.#take(BLANK_LINES)
      if (this.#text[this.#at] === end) break
      read(index)
      this.#take(BLANK_LINES)
      if (this.#take(/,/y) === '') break
    }
    this.#take(BLANK_LINES)
    if (this.#text[this.#at] === end) this.#at++
  }

  #note(keys: Keys): void {
    const name = nameOf(keys)
    if (!this.#lines.has(name)) this.#lines.set(name, this.#lineHere())
  }

  #lineHere(): number {
    for (; this.#counted < this.#at; this.#counted++) if (this.#text[this.#counted] === '\n') this.#line++
    return this.#line
  }

  /** What a sticky pattern matches here; empty if it does not. */
  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const [taken = ''] = pattern.exec(this.#text) ?? []
    this.#at += taken.length
    return taken
  }
}

/** TOML's escapes are those of JSON, but for the long forms of code points. */
function unquoted(key: string): string {
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
