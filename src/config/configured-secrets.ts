import type { Config } from './config.ts'

/** Returns the values of variables that the configuration declares secret, whatever their names. */
export function listConfiguredSecrets(
  { web }: Config,
  environment: Readonly<Record<string, string | undefined>>,
): string[] {
  const token = web?.search_token_env === undefined ? undefined : environment[web.search_token_env]
  return token === undefined ? [] : [token]
}
