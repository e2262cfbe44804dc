import { KeyCounter, type SecretSlot } from './secret-slot.ts'

const SPACE = /\s*/y
const STRING = /"(?:\\.|[^"\\])*"/y
const SCALAR = /[^\s,\]}]+/y
const MAX_DEPTH = 100

/**
 * Finds all values of a JSON document that are no object and no list, by their path. Undefined if the text is not valid
 * JSON or is nested too deep.
 */
export function findJsonSlots(text: string): SecretSlot[] | undefined {
  try {
    JSON.parse(text)
  } catch {
    return undefined
  }
  return new JsonScanner(text).scan()
}

/** Walks a document that is known to be valid. */
class JsonScanner {
  readonly #text: string
  readonly #slots: SecretSlot[] = []
  readonly #keys = new KeyCounter()
  #position = 0

  constructor(text: string) {
    this.#text = text
  }

  /** Returns undefined for a document that is nested too deep. */
  scan(): SecretSlot[] | undefined {
    return this.#readValue([]) ? this.#slots : undefined
  }

  /** Reads a value and everything in it. Returns false if it is nested too deep. */
  #readValue(path: readonly string[]): boolean {
    if (path.length > MAX_DEPTH) return false
    this.#consume(SPACE)
    const first = this.#text[this.#position]
    if (first === '{') return this.#readObject(path)
    if (first === '[') return this.#readArray(path)
    const start = this.#position
    const raw = this.#consume(first === '"' ? STRING : SCALAR)
    const value = first === '"' ? String(JSON.parse(raw)) : raw
    this.#slots.push({
      key: this.#keys.add(JSON.stringify(path)),
      start,
      end: this.#position,
      value,
      isJson: true,
    })
    return true
  }

  #readObject(path: readonly string[]): boolean {
    return this.#readEntries('}', () => {
      this.#consume(SPACE)
      const key = String(JSON.parse(this.#consume(STRING)))
      this.#consume(SPACE)
      this.#position++
      return this.#readValue([...path, key])
    })
  }

  #readArray(path: readonly string[]): boolean {
    let index = 0
    return this.#readEntries(']', () => this.#readValue([...path, String(index++)]))
  }

  #readEntries(end: string, read: () => boolean): boolean {
    do {
      this.#position++
      this.#consume(SPACE)
      if (this.#text[this.#position] === end) break
      if (!read()) return false
      this.#consume(SPACE)
    } while (this.#text[this.#position] === ',')
    this.#position++
    return true
  }

  /** Returns the text that a pattern matches at the current position, and moves behind it. */
  #consume(pattern: RegExp): string {
    pattern.lastIndex = this.#position
    const [taken = ''] = pattern.exec(this.#text) ?? []
    this.#position += taken.length
    return taken
  }
}
