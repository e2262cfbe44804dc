import { KeyCounter, type SecretSlot } from './secret-slot.ts'

const SPACE = /\s*/y
const STRING = /"(?:\\.|[^"\\])*"/y
const SCALAR = /[^\s,\]}]+/y
const MAX_DEPTH = 100

/** Finds the texts and numbers of a JSON document, by their path. Undefined if the text is not valid JSON. */
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
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** Returns undefined for a document that is nested too deep. */
  scan(): SecretSlot[] | undefined {
    return this.#readValue([]) ? this.#slots : undefined
  }

  #readValue(path: readonly string[]): boolean {
    if (path.length > MAX_DEPTH) return false
    this.#match(SPACE)
    const first = this.#text[this.#at]
    if (first === '{') return this.#readObject(path)
    if (first === '[') return this.#readArray(path)
    const start = this.#at
    const raw = this.#match(first === '"' ? STRING : SCALAR)
    const value = first === '"' ? String(JSON.parse(raw)) : raw
    this.#slots.push({ key: this.#keys.add(JSON.stringify(path)), start, end: this.#at, value, isJson: true })
    return true
  }

  #readObject(path: readonly string[]): boolean {
    return this.#readEntries('}', () => {
      this.#match(SPACE)
      const key = String(JSON.parse(this.#match(STRING)))
      this.#match(SPACE)
      this.#at++
      return this.#readValue([...path, key])
    })
  }

  #readArray(path: readonly string[]): boolean {
    let index = 0
    return this.#readEntries(']', () => this.#readValue([...path, String(index++)]))
  }

  #readEntries(end: string, read: () => boolean): boolean {
    do {
      this.#at++
      this.#match(SPACE)
      if (this.#text[this.#at] === end) break
      if (!read()) return false
      this.#match(SPACE)
    } while (this.#text[this.#at] === ',')
    this.#at++
    return true
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const [taken = ''] = pattern.exec(this.#text) ?? []
    this.#at += taken.length
    return taken
  }
}
