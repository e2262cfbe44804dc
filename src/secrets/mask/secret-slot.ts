/** A place of a file that holds a value. */
export interface SecretSlot {
  /** Key of the value, unique in its file. */
  readonly key: string
  /** Range of the value in the text, with its quotation marks. */
  readonly start: number
  readonly end: number
  /** The value without quotation marks. */
  readonly value: string
  /** True if it is a value of JSON. */
  readonly isJson?: boolean
}

/**
 * Values that are no secrets whatever their key: empty ones, switches, small numbers, names of environments, and
 * placeholders.
 */
const HARMLESS =
  /^(?:|true|false|yes|no|on|off|null|none|-?\d{1,5}|development|production|test|staging|local|coppice-secret-[0-9a-f]{32})$/i

/** Reports whether a value can be shown as it is. */
export function isHarmlessValue(value: string): boolean {
  return HARMLESS.test(value)
}

/** Numbers equal keys, so that each is unique. */
export class KeyCounter {
  readonly #counts = new Map<string, number>()

  /** Returns the key itself at its first use, and with a number from the second on. */
  add(key: string): string {
    const count = (this.#counts.get(key) ?? 0) + 1
    this.#counts.set(key, count)
    return count === 1 ? key : `${key}#${count}`
  }
}
