import { type Config, readConfig } from '../config/index.ts'
import { createEndpointSearch, type WebSearch } from '../devices/web/index.ts'
import { VfsError } from '../vfs/index.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Searches through the endpoint in the home's current configuration. Throws ENOTSUP if there is none, EACCES. */
export function createSearch(directory: string, env: Environment): WebSearch {
  return async (query, signal) => {
    const { web = {} } = await readConfig(directory)
    if (web.search_url === undefined) {
      const detail = 'no search is configured; set search_url below [web] in the config.toml of the home'
      throw new VfsError('ENOTSUP', '/dev/web', { op: 'search', detail })
    }
    return createEndpointSearch({ url: web.search_url, headers: createHeaders(web, env) })(query, signal)
  }
}

function createHeaders(
  { search_token_env: name }: NonNullable<Config['web']>,
  env: Environment,
): Readonly<Record<string, string>> {
  if (name === undefined) return {}
  const token = env[name]
  if (token) return { authorization: `Bearer ${token}` }
  const detail = `the search needs the token in $${name}, which is not set; set it and restart the daemon (coppice daemon stop)`
  throw new VfsError('EACCES', '/dev/web', { op: 'search', detail })
}
