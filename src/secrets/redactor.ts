import { HIDDEN, isSecretName, KnownSecrets } from './known-secrets.ts'
import { ADDRESS, BEARER_TO_JUDGE, NAMED, PRIVATE_KEY, TOKENS } from './secret-forms.ts'

/** Behind what looks like a token: `sk-….com` may be the machine that a command reaches. */
const GOES_ON = /\.?[A-Za-z0-9]/y
/** A word on which no shell acts, that is no option and leads nowhere. */
const WORD = /^(?![-~])[A-Za-z0-9_.~+=!@#%^,-]+$/
const MACHINE_OR_FILE = /\.[A-Za-z]{2,}$|^\d+(?:\.\d+)+$/
/** Only what came about by chance is like this, though there are the signs of a path in it. */
const CHANCE = /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[A-Za-z0-9+][A-Za-z0-9+/=_-]{19,}$/

type Variables = Readonly<Record<string, string | undefined>>

/** Takes secrets out of texts: those of an environment and others it is told by their values, the rest by their looks. */
export class Redactor {
  readonly #known: KnownSecrets
  readonly #knownToJudge: KnownSecrets

  /** @param given variables of a request: whoever wants it to run has chosen them. */
  constructor(environment: Variables = {}, given: Variables = {}) {
    this.#known = new KnownSecrets(secretsIn(environment))
    this.#knownToJudge = new KnownSecrets(secretsIn(environment))
    this.learn(secretsIn(given))
  }

  /** Takes these values out as well, from now on; out of what somebody decides about, those that can hide nothing. */
  learn(secrets: Iterable<string>): void {
    const values = [...secrets]
    this.#known.add(values)
    this.#knownToJudge.add(values.filter(isOpaque))
  }

  text(text: string): string {
    const known = this.#known.hide(text)
    const result = [...TOKENS, PRIVATE_KEY].reduce((rest, shape) => rest.replace(shape, HIDDEN), known)
    return NAMED.reduce((rest, named) => rest.replace(named, `$1${HIDDEN}`), result)
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
    const known = this.#knownToJudge.hide(text)
    const result = TOKENS.reduce(withoutWhole, known)
    return [BEARER_TO_JUDGE, ADDRESS].reduce(withoutOpaque, result)
  }

  /** The same in every text of a value, names excepted. */
  valueToJudge<Value>(value: Value): Value {
    return mapped(value, (text) => this.textToJudge(text))
  }

  /** Variables as they can be shown: of those that are called like secrets, only the names. */
  environment(variables: Readonly<Record<string, string>>): Record<string, string> {
    return mappedVariables(variables, (name, value) => (isSecretName(name) ? HIDDEN : this.text(value)))
  }

  /** The same for whoever decides what runs with them: nothing is hidden in which something could hide. */
  environmentToJudge(variables: Readonly<Record<string, string>>): Record<string, string> {
    return mappedVariables(variables, (name, value) =>
      isSecretName(name) && isOpaque(value) ? HIDDEN : this.textToJudge(value),
    )
  }
}

function secretsIn(variables: Variables): string[] {
  return Object.entries(variables).flatMap(([name, value]) =>
    value !== undefined && isSecretName(name) ? [value] : [],
  )
}

/** A text without the tokens in it that are not the beginning of a longer name. */
function withoutWhole(text: string, tokens: RegExp): string {
  return text.replace(tokens, (token: string, ...found: unknown[]) => {
    GOES_ON.lastIndex = Number(found.at(-2)) + token.length
    return GOES_ON.test(text) ? token : HIDDEN
  })
}

/** A text without what stands behind a sign that it is a secret, where that can be nothing else. */
function withoutOpaque(text: string, named: RegExp): string {
  return text.replace(named, (whole, sign: string, secret: string) =>
    isOpaque(secret) ? `${sign}${HIDDEN}` : whole,
  )
}

/** Whether whoever does not see a value misses nothing of what is done: no line, path, option or machine. */
function isOpaque(value: string): boolean {
  return (WORD.test(value) && !MACHINE_OR_FILE.test(value)) || CHANCE.test(value)
}

function mapped<Value>(value: Value, change: (text: string) => string): Value {
  return JSON.parse(JSON.stringify(value), (_key, part: unknown) =>
    typeof part === 'string' ? change(part) : part,
  )
}

function mappedVariables(
  variables: Readonly<Record<string, string>>,
  change: (name: string, value: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, change(name, value)]))
}
