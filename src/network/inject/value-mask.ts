import { Transform } from 'node:stream'

/** A value and the text to show in its place. */
interface MaskedValue {
  readonly value: string
  readonly placeholder: string
}

/** A shorter value is found in ordinary text, which would be damaged. */
const MIN_LENGTH = 8

/** Puts the placeholders of secrets back where a server returns their values. Text is that of bytes (latin1). */
export class ValueMask {
  readonly #placeholders: ReadonlyMap<string, string>
  readonly #pattern: RegExp | undefined

  constructor(secrets: readonly MaskedValue[]) {
    const forms = secrets.filter(({ value }) => value.length >= MIN_LENGTH).flatMap(listForms)
    this.#placeholders = new Map(forms)
    // The longest first, because one may contain another.
    const values = [...this.#placeholders.keys()].sort((one, other) => other.length - one.length)
    const sources = values.map((value) => value.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
    this.#pattern = sources.length === 0 ? undefined : new RegExp(sources.join('|'), 'g')
  }

  maskText(text: string): string {
    if (this.#pattern === undefined) return text
    return text.replaceAll(this.#pattern, (value) => this.#placeholders.get(value) ?? '')
  }

  /** Creates a stream that masks. It holds back only what may be the beginning of a value. */
  createStream(): Transform {
    let held = ''
    return new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        const text = held + chunk.toString('latin1')
        const end = text.length - this.#countHeld(text)
        held = text.slice(end)
        done(null, Buffer.from(this.maskText(text.slice(0, end)), 'latin1'))
      },
      flush: (done) => done(null, Buffer.from(this.maskText(held), 'latin1')),
    })
  }

  /** Counts the characters at the end of a text that may be the beginning of a value, and are not part of one. */
  #countHeld(text: string): number {
    const start = text.length - this.#countPartial(text)
    let maskedEnd = 0
    for (const { index, 0: value } of this.#pattern === undefined ? [] : text.matchAll(this.#pattern)) {
      // It may be the beginning of a longer one.
      if (index >= start) break
      maskedEnd = index + value.length
    }
    return text.length - Math.max(start, maskedEnd)
  }

  /** Counts the characters of the longest end of a text with which a value begins. */
  #countPartial(text: string): number {
    const counts = [...this.#placeholders.keys()].map((value) => {
      let count = Math.min(value.length - 1, text.length)
      while (count > 0 && !text.endsWith(value.slice(0, count))) count--
      return count
    })
    return Math.max(0, ...counts)
  }
}

/** Lists the forms in which servers usually return a value: as it is, in JSON, in an address, in base64. */
function listForms({ value, placeholder }: MaskedValue): [form: string, placeholder: string][] {
  const json = JSON.stringify(value).slice(1, -1)
  const forms = [value, json, encodeURIComponent(value), Buffer.from(value).toString('base64')]
  return forms.map((form) => [form, placeholder])
}
