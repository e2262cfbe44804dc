import type { Config } from './config.ts'

/** The values of variables that the configuration names as secret, whatever they are called. */
export function listConfiguredSecrets(
  { web }: Config,
  environment: Readonly<Record<string, string | undefined>>,
): string[] {
  const token = web?.search_token_env === undefined ? undefined : environment[web.search_token_env]
  return token === undefined ? [] : [token]
}
