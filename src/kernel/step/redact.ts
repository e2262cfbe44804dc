const HIDDEN = '[redacted]'
/** Shorter values would hide ordinary words. */
const MIN_LENGTH = 8
const SECRET_NAME = /(?:token|secret|password|passwd|api_?key|credential|private_?key|auth)/i
/** Keys and tokens that are known by their looks. */
const SHAPES = [
  /\bsk-[A-Za-z0-9_-]{16,}/g,
  /\bgh[pousr]_[A-Za-z0-9]{20,}/g,
  /\bgithub_pat_\w{20,}/g,
  /\bxox[abprs]-[A-Za-z0-9-]{10,}/g,
  /\bAKIA[0-9A-Z]{16}\b/g,
  /\bAIza[0-9A-Za-z_-]{35}/g,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
]
const BEARER = /\b(bearer\s+)[A-Za-z0-9._~+/=-]{8,}/gi
const ASSIGNED =
  /\b([A-Za-z0-9_-]*(?:token|secret|password|passwd|api_?key)[A-Za-z0-9_-]*["']?\s*[:=]\s*["']?)[^\s"',}]{8,}/gi

/** Takes secrets out of texts: those of an environment by their values, others by what they look like. */
export class Redactor {
  readonly #values: readonly string[]

  constructor(environment: Readonly<Record<string, string | undefined>> = {}) {
    this.#values = Object.entries(environment)
      .flatMap(([name, value]) => (value !== undefined && SECRET_NAME.test(name) ? [value] : []))
      .filter((value) => value.length >= MIN_LENGTH)
      // The longest first: one may be a part of another.
      .sort((a, b) => b.length - a.length)
  }

  text(text: string): string {
    let result = text
    for (const value of this.#values) result = result.replaceAll(value, HIDDEN)
    for (const shape of SHAPES) result = result.replace(shape, HIDDEN)
    return result.replace(BEARER, `$1${HIDDEN}`).replace(ASSIGNED, `$1${HIDDEN}`)
  }

  /** The same in every text of a value, names excepted. */
  value<Value>(value: Value): Value {
    return JSON.parse(JSON.stringify(value), (_key, part: unknown) =>
      typeof part === 'string' ? this.text(part) : part,
    )
  }
}
