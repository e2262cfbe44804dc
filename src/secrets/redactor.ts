import { isSecretName, KnownSecrets, REDACTED } from './known-secrets.ts'
import {
  BEARER_ON_ONE_LINE,
  canHaveMarkedSecret,
  canHaveToken,
  MARKED_SECRETS,
  PRIVATE_KEY,
  TOKENS,
  URL_PASSWORD,
} from './secret-patterns.ts'

/** Text after an apparent token that continues it: `sk-….com` may be a host name. */
const TOKEN_CONTINUES = /\.?[A-Za-z0-9]/y
/** A word without shell syntax that is neither an option nor a path. */
const WORD = /^(?![-~])[A-Za-z0-9_.~+=!@#%^,-]+$/
const HOST_OR_FILE = /\.[A-Za-z]{2,}$|^\d+(?:\.\d+)+$/
/** A random string, even if it contains slashes. */
const RANDOM_TOKEN = /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[A-Za-z0-9+][A-Za-z0-9+/=_-]{19,}$/

type Variables = Readonly<Record<string, string | undefined>>

/** Redacts secrets in text: known values, such as an environment's, and text that looks like a secret. */
export class Redactor {
  readonly #known: KnownSecrets
  readonly #knownForReview: KnownSecrets

  /** @param given variables of a request, which the requester has chosen. They count as in `addSecrets`. */
  constructor(environment: Variables = {}, given: Variables = {}) {
    this.#known = new KnownSecrets(listSecretValues(environment))
    this.#knownForReview = new KnownSecrets(listSecretValues(environment))
    this.addSecrets(listSecretValues(given))
  }

  /** Adds secrets to redact. For review, only opaque values are redacted, which cannot hide a command. */
  addSecrets(secrets: Iterable<string>): void {
    const values = [...secrets]
    this.#known.add(values)
    this.#knownForReview.add(values.filter(isOpaque))
  }

  redactText(text: string): string {
    const known = this.#known.redact(text)
    const result = canHaveToken(known)
      ? [...TOKENS, PRIVATE_KEY].reduce((rest, pattern) => rest.replace(pattern, REDACTED), known)
      : known
    if (!canHaveMarkedSecret(result)) return result
    return MARKED_SECRETS.reduce((rest, pattern) => rest.replace(pattern, `$1${REDACTED}`), result)
  }

  /** Redacts every string of a JSON value, but not its keys. A value without secrets is returned as it is. */
  redactValue<Value>(value: Value): Value {
    return this.#isClean(value) ? value : mapStrings(value, (text) => this.redactText(text))
  }

  /** Reports whether redaction leaves every string of a value as it is. */
  #isClean(value: unknown): boolean {
    const texts: string[] = []
    collectStrings(value, texts)
    // All at once first: what a pattern finds in one string, it finds in their lines too.
    return !this.#canHaveSecret(texts.join('\n')) || texts.every((text) => this.redactText(text) === text)
  }

  /** Reports whether redaction may change a text. False is certain, also for each of its lines. */
  #canHaveSecret(text: string): boolean {
    return this.#known.redact(text) !== text || canHaveToken(text) || canHaveMarkedSecret(text)
  }

  /** Formats a value as JSON with its strings redacted, but not its keys. */
  toJson(value: unknown): string {
    return JSON.stringify(this.redactValue(value))
  }

  /**
   * Redacts text that a person reviews: only what can be nothing but a secret. The text after `password=` may be a
   * command, which the reviewer must see.
   */
  redactTextForReview(text: string): string {
    const known = this.#knownForReview.redact(text)
    const result = TOKENS.reduce(removeTokens, known)
    return [BEARER_ON_ONE_LINE, URL_PASSWORD].reduce(removeOpaqueSecrets, result)
  }

  /** Redacts every string of a JSON value for review, but not its keys. */
  redactValueForReview<Value>(value: Value): Value {
    return mapStrings(value, (text) => this.redactTextForReview(text))
  }

  /** Redacts the values of variables whose names look secret, and secrets in the others. */
  redactEnvironment(variables: Readonly<Record<string, string>>): Record<string, string> {
    return mapVariables(variables, (name, value) => (isSecretName(name) ? REDACTED : this.redactText(value)))
  }

  /** Redacts variables for review: only opaque values, which cannot hide a command. */
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

/** Redacts tokens that are not the start of a longer name. */
function removeTokens(text: string, tokens: RegExp): string {
  return text.replace(tokens, (token: string, ...found: unknown[]) => {
    TOKEN_CONTINUES.lastIndex = Number(found.at(-2)) + token.length
    return TOKEN_CONTINUES.test(text) ? token : REDACTED
  })
}

/** Redacts the text after a secret marker if it is opaque. */
function removeOpaqueSecrets(text: string, pattern: RegExp): string {
  return text.replace(pattern, (whole, marker: string, secret: string) =>
    isOpaque(secret) ? `${marker}${REDACTED}` : whole,
  )
}

/** Reports whether a value can be hidden from a reviewer: it is no command line, path, option or host. */
function isOpaque(value: string): boolean {
  return (WORD.test(value) && !HOST_OR_FILE.test(value)) || RANDOM_TOKEN.test(value)
}

function collectStrings(value: unknown, texts: string[]): void {
  if (typeof value === 'string') texts.push(value)
  else if (typeof value === 'object' && value !== null)
    for (const part of Object.values(value)) collectStrings(part, texts)
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
