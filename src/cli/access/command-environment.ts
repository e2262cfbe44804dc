import { type Config, listConfiguredSecrets } from '../../config/index.ts'
import { parseHostRule } from '../../network/index.ts'
import { isCredential, Redactor, SecretFiles, usualSecretFiles } from '../../secrets/index.ts'
import type { MaskChoice } from '../../workspace/index.ts'
import { isDatabaseUrl } from './home-path.ts'

/** Variables that commands of agents get, unless one looks like a credential. */
const AGENT_VARIABLES =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|TERM|COLORTERM|TZ|LANG|LANGUAGE|LC_[A-Z]+|EDITOR|[A-Z]+_HOME|NVM_DIR|GOPATH|VIRTUAL_ENV)$/

/** Variables for a command, and the names of those that it does not get because they look like credentials. */
export interface CommandEnvironment {
  readonly env: Record<string, string>
  readonly withheld: readonly string[]
}

/**
 * Returns the environment for a command that a person runs in a fork: that of this process, without variables that look
 * like credentials, and without the address of a shared home, which is closed to commands as any home is.
 *
 * @param passed names of variables to pass on nevertheless.
 */
export function createCommandEnvironment(passed: readonly string[]): CommandEnvironment {
  const env: Record<string, string> = {}
  const withheld: string[] = []
  for (const [name, value] of listEnvironment()) {
    if (isHomeUrl(name, value)) continue
    if (!passed.includes(name) && isCredential(name, value)) withheld.push(name)
    else env[name] = value
  }
  return { env, withheld: withheld.sort() }
}

/** Copies the environment of this process, for a program of the user's own. */
export function copyEnvironment(): Record<string, string> {
  return Object.fromEntries(listEnvironment())
}

/** Returns the environment for commands of agents: only `AGENT_VARIABLES` of that of this process. */
export function createAgentEnvironment(): Record<string, string> {
  return Object.fromEntries(
    listEnvironment().filter(
      ([name, value]) => AGENT_VARIABLES.test(name) && !isHomeUrl(name, value) && !isCredential(name, value),
    ),
  )
}

/** Creates a redactor of the secrets in this environment, in the configuration and in `more`. */
export function createRedactor(config: Config, more: Readonly<Record<string, string>> = {}): Redactor {
  const redactor = new Redactor(process.env, more)
  redactor.addSecrets(listConfiguredSecrets(config, process.env))
  return redactor
}

/**
 * Returns which files have their values masked, so that a command sees placeholders, and which hosts get the values
 * nevertheless.
 */
export function createMaskChoice({
  secrets: { mask = [], mask_usual = true, inject } = {},
}: Config): MaskChoice {
  const files = new SecretFiles([...(mask_usual ? usualSecretFiles : []), ...mask])
  const bindings = Object.entries(inject ?? {}).map(
    ([key, hosts]) => [key, hosts.map(parseHostRule)] as const,
  )
  return { files, ...(bindings.length > 0 && { inject: new Map(bindings) }) }
}

/** Returns what is masked for agents; undefined if the configuration says nothing is. */
export function createAgentMask(config: Config): MaskChoice | undefined {
  return config.secrets?.mask_agents === false ? undefined : createMaskChoice(config)
}

function isHomeUrl(name: string, value: string): boolean {
  return name === 'COPPICE_HOME' && isDatabaseUrl(value)
}

function listEnvironment(): [name: string, value: string][] {
  return Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined)
}
