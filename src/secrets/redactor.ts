import { HIDDEN, isSecretName, KnownSecrets } from './known-secrets.ts'

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

/** Takes secrets out of texts: those of an environment and others it is told by their values, the rest by their looks. */
export class Redactor {
  readonly #known: KnownSecrets

  constructor(environment: Readonly<Record<string, string | undefined>> = {}) {
    this.#known = new KnownSecrets(
      Object.entries(environment).flatMap(([name, value]) =>
        value !== undefined && isSecretName(name) ? [value] : [],
      ),
    )
  }

  /** Takes these values out as well, from now on. */
  learn(secrets: Iterable<string>): void {
    this.#known.add(secrets)
  }

  text(text: string): string {
    let result = this.#known.hide(text)
    for (const shape of SHAPES) result = result.replace(shape, HIDDEN)
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
