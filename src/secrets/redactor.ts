import { HIDDEN, isSecretName, KnownSecrets } from './known-secrets.ts'

/**
 * Keys and tokens that are known by their looks, and can be nothing else: no command hides in one. Each is looked for in
 * time that grows with the text: a model chose it.
 */
const TOKENS = [
  /\bsk-[A-Za-z0-9_-]{16,}/g,
  /\bgh[pousr]_[A-Za-z0-9]{20,}/g,
  /\bgithub_pat_\w{20,}/g,
  /\bxox[abprs]-[A-Za-z0-9-]{10,}/g,
  /\bAKIA[0-9A-Z]{16}\b/g,
  /\bAIza[0-9A-Za-z_-]{35}/g,
  /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/g,
]
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g
/** The password of an address, such as `postgres://user:password@host`. */
const ADDRESS = /(\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@]*:)[^\s/@]{3,}(?=@)/gi
const BEARER = /\b(bearer\s+)[A-Za-z0-9._~+/=-]{8,}/gi
const ASSIGNED =
  /((?:token|secret|password|passwd|api_?key)[A-Za-z0-9_-]{0,40}[\\"']{0,8}\s*[:=]\s*[\\"']{0,8})[^\s\\"',}]{8,}/gi

/** A variable may be called like a secret and say where one is, or what runs. */
const PLACE = /^(?:[~.]{0,2}\/|~)/

/** Takes secrets out of texts: those of an environment and others it is told by their values, the rest by their looks. */
export class Redactor {
  readonly #known: KnownSecrets

  constructor(...environments: readonly Readonly<Record<string, string | undefined>>[]) {
    const variables = environments.flatMap((environment) => Object.entries(environment))
    this.#known = new KnownSecrets(
      variables.flatMap(([name, value]) => (value !== undefined && isSecretName(name) ? [value] : [])),
    )
  }

  /** Takes these values out as well, from now on. */
  learn(secrets: Iterable<string>): void {
    this.#known.add(secrets)
  }

  text(text: string): string {
    const result = this.textToJudge(text).replace(PRIVATE_KEY, HIDDEN)
    return [ADDRESS, ASSIGNED].reduce((rest, named) => rest.replace(named, `$1${HIDDEN}`), result)
  }

  /** The same in every text of a value, names excepted. */
  value<Value>(value: Value): Value {
    return mapped(value, (text) => this.text(text))
  }

  /**
   * A text that somebody decides about: only what is a secret beyond doubt is taken out. Whatever stands behind
   * `password=` may as well be a command, which whoever lets it run has to see.
   */
  textToJudge(text: string): string {
    const known = this.#known.hide(text)
    const result = TOKENS.reduce((rest, token) => rest.replace(token, HIDDEN), known)
    return result.replace(BEARER, `$1${HIDDEN}`)
  }

  /** The same in every text of a value, names excepted. */
  valueToJudge<Value>(value: Value): Value {
    return mapped(value, (text) => this.textToJudge(text))
  }

  /** Variables as they can be shown: of those that are called like secrets, only the names. */
  environment(variables: Readonly<Record<string, string>>): Record<string, string> {
    const told = ([name, value]: [string, string]): [string, string] => [
      name,
      isSecretName(name) && !PLACE.test(value) ? HIDDEN : this.textToJudge(value),
    ]
    return Object.fromEntries(Object.entries(variables).map(told))
  }
}

function mapped<Value>(value: Value, change: (text: string) => string): Value {
  return JSON.parse(JSON.stringify(value), (_key, part: unknown) =>
    typeof part === 'string' ? change(part) : part,
  )
}
