import { Redactor } from '../secrets/index.ts'
import { type Config, configuredSecrets } from '../server/config/index.ts'

/** What a command of an agent gets to know of our environment: no tokens, whatever they are called. */
const HARMLESS =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|TERM|COLORTERM|TZ|LANG|LANGUAGE|LC_[A-Z]+|EDITOR|[A-Z]+_HOME|NVM_DIR|GOPATH|VIRTUAL_ENV)$/

/** The environment of this process, for a command its user runs. */
export function wholeEnvironment(): Record<string, string> {
  return Object.fromEntries(given())
}

/** What of it a command of an agent gets. */
export function agentEnvironment(): Record<string, string> {
  return Object.fromEntries(given().filter(([name]) => HARMLESS.test(name)))
}

/** Knows the secrets of this process and its configuration, and those a command is given besides. */
export function ownRedactor(config: Config, more: Readonly<Record<string, string>> = {}): Redactor {
  const redactor = new Redactor(process.env, more)
  redactor.learn(configuredSecrets(config, process.env))
  return redactor
}

function given(): [name: string, value: string][] {
  return Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined)
}
