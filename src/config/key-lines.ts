type Keys = readonly (string | number)[]

/** The lines of the keys of a TOML document. */
export interface KeyLines {
  /** Returns the line, from 1, that sets a key or opens its table, or that of its nearest parent; 1 if there is none. */
  getLine(keys: Keys): number
}

/**
 * Finds the line of every key: tables, dotted and quoted keys, inline tables and elements of arrays. All tables of
 * `[[a]]` count as one. The text must be valid TOML, so the structure can be read without parsing values.
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

/** Encodes keys as one string for lookups. */
function encodeKeys(keys: Keys): string {
  return JSON.stringify(keys.map(String))
}

const SPACES = /[ \t]*/y
const SPACES_AND_COMMENTS = /(?:[ \t\r\n]|#[^\n]*)*/y
const BARE_KEY = /[A-Za-z0-9_-]+/y
const BARE_VALUE = /[^,\]}\n#]*/y
/**
 * The four kinds of strings. Those of several lines come first: the beginning of their quotes is an empty string.
 */
const STRING = /"""(?:\\.|[^\\])*?"{3,5}|'''.*?'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*'/sy

class KeyScanner {
  readonly #text: string
  readonly #lines = new Map<string, number>()
  #position = 0
  /** Line at `#countedTo`. */
  #line = 1
  /** Line breaks before this position are counted. */
  #countedTo = 0

  constructor(text: string) {
    this.#text = text
  }

  scan(): ReadonlyMap<string, number> {
    let table: Keys = []
    for (
      this.#take(SPACES_AND_COMMENTS);
      this.#position < this.#text.length;
      this.#take(SPACES_AND_COMMENTS)
    ) {
      const start = this.#position
      if (this.#text[this.#position] === '[') table = this.#readTable()
      else this.#readSetting(table)
      // No progress: the text is not valid TOML. The lines found so far have to do.
      if (this.#position === start) break
    }
    return this.#lines
  }

  /** Reads `[a.b]` or `[[a.b]]`; returns the keys `a` and `b`. */
  #readTable(): Keys {
    this.#take(/\[+/y)
    const keys = this.#readKeys([])
    this.#take(SPACES)
    this.#take(/\]+/y)
    return keys
  }

  /** Reads `a.b = value`. */
  #readSetting(table: Keys): void {
    const keys = this.#readKeys(table)
    this.#take(/[ \t]*=[ \t]*/y)
    this.#readValue(keys)
  }

  /** Reads a dotted key in a table, and records the line of each part. */
  #readKeys(table: Keys): Keys {
    let keys = table
    do {
      this.#take(SPACES)
      const quoted = this.#take(STRING)
      keys = [...keys, quoted === '' ? this.#take(BARE_KEY) : unquoteKey(quoted)]
      this.#recordLine(keys)
      this.#take(SPACES)
    } while (this.#take(/\./y) !== '')
    return keys
  }

  #readValue(keys: Keys): void {
    const first = this.#text[this.#position]
    if (first === '[') this.#readList(']', (index) => this.#readElement([...keys, index]))
    else if (first === '{') this.#readList('}', () => this.#readSetting(keys))
    else if (this.#take(STRING) === '') this.#take(BARE_VALUE)
  }

  #readElement(keys: Keys): void {
    this.#recordLine(keys)
    this.#readValue(keys)
  }

  /** Reads a comma-separated list between brackets or braces. */
  #readList(closing: string, read: (index: number) => void): void {
    this.#position++
    for (let index = 0; this.#position < this.#text.length; index++) {
      this.#take(SPACES_AND_COMMENTS)
      if (this.#text[this.#position] === closing) break
      read(index)
      this.#take(SPACES_AND_COMMENTS)
      if (this.#take(/,/y) === '') break
    }
    this.#take(SPACES_AND_COMMENTS)
    if (this.#text[this.#position] === closing) this.#position++
  }

  #recordLine(keys: Keys): void {
    const encoded = encodeKeys(keys)
    if (!this.#lines.has(encoded)) this.#lines.set(encoded, this.#getCurrentLine())
  }

  #getCurrentLine(): number {
    for (; this.#countedTo < this.#position; this.#countedTo++)
      if (this.#text[this.#countedTo] === '\n') this.#line++
    return this.#line
  }

  /** Returns what a sticky pattern matches here and moves past it; an empty string if it does not match. */
  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#position
    const [taken = ''] = pattern.exec(this.#text) ?? []
    this.#position += taken.length
    return taken
  }
}

/** Removes the quotes of a key and decodes its escapes: those of JSON, and `\\U`, `\\x` and `\\e`. */
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
