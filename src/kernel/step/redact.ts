const HIDDEN = '[redacted]'
/** Shorter values would hide ordinary words. */
const MIN_LENGTH = 8
const SECRET_NAME = /token|secret|passw|credential|auth(?!or)|key(?:_|$)|(?:^|_)(?:pass|passphrase|dsn)$/i
/** Keys and tokens that are known by their looks. Each is looked for in time that grows with the text: a model chose it. */
const SHAPES = [
  /\bsk-[A-Za-z0-9_-]{16,}/g,
  /\bgh[pousr]_[A-Za-z0-9]{20,}/g,
  /\bgithub_pat_\w{20,}/g,
  /\bxox[abprs]-[A-Za-z0-9-]{10,}/g,
  /\bAKIA[0-9A-Z]{16}\b/g,
  /\bAIza[0-9A-Za-z_-]{35}/g,
  /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
]
/** The password of an address, such as `postgres://user:password@host`. */
const ADDRESS = /(\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@]*:)[^\s/@]{3,}(?=@)/gi
const BEARER = /\b(bearer\s+)[A-Za-z0-9._~+/=-]{8,}/gi
const ASSIGNED =
  /((?:token|secret|password|passwd|api_?key)[A-Za-z0-9_-]{0,40}[\\"']{0,8}\s*[:=]\s*[\\"']{0,8})[^\s\\"',}]{8,}/gi

/** Characters that JSON writes otherwise, each level of it with more backslashes. */
const ESCAPED: Readonly<Record<string, string>> = {
  '"': '\\\\*"',
  '\\': '\\\\+',
  '\n': '(?:\\n|\\\\+n)',
  '\r': '(?:\\r|\\\\+r)',
  '\t': '(?:\\t|\\\\+t)',
}

/** Takes secrets out of texts: those of an environment by their values, others by what they look like. */
export class Redactor {
  readonly #values: readonly RegExp[]

  constructor(environment: Readonly<Record<string, string | undefined>> = {}) {
    this.#values = Object.entries(environment)
      .flatMap(([name, value]) => (value !== undefined && SECRET_NAME.test(name) ? [value] : []))
      .filter((value) => value.length >= MIN_LENGTH)
      // The longest first: one may be a part of another.
      .sort((a, b) => b.length - a.length)
      .flatMap(formsOf)
  }

  text(text: string): string {
    let result = text
    for (const shape of [...this.#values, ...SHAPES]) result = result.replace(shape, HIDDEN)
    for (const named of [ADDRESS, BEARER, ASSIGNED]) result = result.replace(named, `$1${HIDDEN}`)
    return result
  }

  /** The same in every text of a value, names excepted. */
  value<Value>(value: Value): Value {
    return JSON.parse(JSON.stringify(value), (_key, part: unknown) =>
      typeof part === 'string' ? this.text(part) : part,
    )
  }
}

/** A value as it is, as it looks within JSON however deep, and in an address. */
function formsOf(value: string): RegExp[] {
  const inJson = [...value].map((character) => ESCAPED[character] ?? literal(character)).join('')
  const inAddress = encodeURIComponent(value.toWellFormed())
  const forms = inAddress === value ? [inJson] : [inJson, literal(inAddress)]
  return forms.map((form) => new RegExp(form, 'g'))
}

function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}
