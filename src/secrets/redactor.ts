import { isSecretName, KnownSecrets, REDACTED } from './known-secrets.ts'
import { BEARER_ON_ONE_LINE, MARKED_SECRETS, PRIVATE_KEY, TOKENS, URL_PASSWORD } from './secret-patterns.ts'

/** Behind what looks like a token: `sk-….com` may be the machine that a command reaches. */
const TOKEN_CONTINUES = /\.?[A-Za-z0-9]/y
/** A word on which no shell acts, that is no option and leads nowhere. */
const WORD = /^(?![-~])[A-Za-z0-9_.~+=!@#%^,-]+$/
const HOST_OR_FILE = /\.[A-Za-z]{2,}$|^\d+(?:\.\d+)+$/
/** Only what came about by chance is like this, though there are the signs of a path in it. */
const RANDOM_TOKEN = /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[A-Za-z0-9+][A-Za-z0-9+/=_-]{19,}$/

type Variables = Readonly<Record<string, string | undefined>>

/** Redacts secrets in text: known values, such as an environment's, and text that looks like a secret. */
export class Redactor {
  readonly #known: KnownSecrets
  readonly #knownForReview: KnownSecrets

  /** @param given variables of a request: whoever wants it to run has chosen them. */
  constructor(environment: Variables = {}, given: Variables = {}) {
    this.#known = new KnownSecrets(listSecretValues(environment))
    this.#knownForReview = new KnownSecrets(listSecretValues(environment))
    this.addSecrets(listSecretValues(given))
  }

  /** Takes these values out as well, from now on; out of what somebody decides about, those that can hide nothing. */
  addSecrets(secrets: Iterable<string>): void {
    const values = [...secrets]
    this.#known.add(values)
    this.#knownForReview.add(values.filter(isOpaque))
  }

  redactText(text: string): string {
    const known = this.#known.redact(text)
    const result = [...TOKENS, PRIVATE_KEY].reduce((rest, shape) => rest.replace(shape, REDACTED), known)
    return MARKED_SECRETS.reduce((rest, named) => rest.replace(named, `$1${REDACTED}`), result)
  }

  /** The same in every text of a value, names excepted. */
  redactValue<Value>(value: Value): Value {
    return mapStrings(value, (text) => this.redactText(text))
  }

  /**
   * A text that somebody decides about: only what is a secret beyond doubt is taken out. Whatever stands behind
   * `password=` may as well be a command, which whoever lets it run has to see.
   */
  redactTextForReview(text: string): string {
    const known = this.#knownForReview.redact(text)
    const result = TOKENS.reduce(removeTokens, known)
    return [BEARER_ON_ONE_LINE, URL_PASSWORD].reduce(removeOpaqueSecrets, result)
  }

  /** The same in every text of a value, names excepted. */
  redactValueForReview<Value>(value: Value): Value {
    return mapStrings(value, (text) => this.redactTextForReview(text))
  }

  /** Variables as they can be shown: of those that are called like secrets, only the names. */
  redactEnvironment(variables: Readonly<Record<string, string>>): Record<string, string> {
    return mapVariables(variables, (name, value) => (isSecretName(name) ? REDACTED : this.redactText(value)))
  }

  /** The same for whoever decides what runs with them: nothing is hidden in which something could hide. */
  redactEnvironmentForReview(variables: Readonly<Record<string, string>>): Record<string, string> {
    return mapVariables(variables, (name, value) =>
      isSecretName(name) && isOpaque(value) ? REDACTED : this.redactTextForReview(value),
    )
  }
}

function listSecretValues(variables: Variables): string[] {
  return Object.entries(variables).flatMap(([name, value]) =>
    value !== undefined && isSecretName(name) ? [value] : [],
  )
}

/** A text without the tokens in it that are not the beginning of a longer name. */
function removeTokens(text: string, tokens: RegExp): string {
  return text.replace(tokens, (token: string, ...found: unknown[]) => {
    TOKEN_CONTINUES.lastIndex = Number(found.at(-2)) + token.length
    return TOKEN_CONTINUES.test(text) ? token : REDACTED
  })
}

/** A text without what stands behind a sign that it is a secret, where that can be nothing else. */
function removeOpaqueSecrets(text: string, named: RegExp): string {
  return text.replace(named, (whole, sign: string, secret: string) =>
    isOpaque(secret) ? `${sign}${REDACTED}` : whole,
  )
}

/** Reports whether a value can be hidden without loss: it is no line, path, option or machine. */
function isOpaque(value: string): boolean {
  return (WORD.test(value) && !HOST_OR_FILE.test(value)) || RANDOM_TOKEN.test(value)
}

function mapStrings<Value>(value: Value, change: (text: string) => string): Value {
  return JSON.parse(JSON.stringify(value), (_key, part: unknown) =>
    typeof part === 'string' ? change(part) : part,
  )
}

function mapVariables(
  variables: Readonly<Record<string, string>>,
  change: (name: string, value: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, change(name, value)]))
}
