import { findRunningDaemon } from './daemon-access.ts'

/** Creates an address that opens one session of the page; undefined if it is not served. */
export async function createUiLink(home: string, path: string): Promise<string | undefined> {
  const client = await findRunningDaemon(home)
  if (client === undefined) return undefined
  await using _client = client
  return (await client.call('ui_link', { path })).link ?? undefined
}
