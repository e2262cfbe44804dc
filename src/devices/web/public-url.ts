import { isIP } from 'node:net'
import { isLocalName } from '../../network/index.ts'
import { VfsError } from '../../vfs/index.ts'

const MAX_URL_CHARACTERS = 4096

/**
 * Parses a URL without its fragment, and checks everything that needs no DNS. EINVAL if it is no URL, EACCES if it is
 * not one of the public web or has a password.
 */
export function parsePublicUrl(text: string, base?: URL): URL {
  const url = URL.canParse(text, base?.href) ? new URL(text, base) : undefined
  if (url === undefined || text.length > MAX_URL_CHARACTERS) {
    throw createUrlError('EINVAL', text, 'not a URL; give one such as https://example.com/page')
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw createUrlError('EACCES', text, `only http and https are fetched, not ${url.protocol}`)
  }
  if (url.username !== '' || url.password !== '') {
    throw createUrlError(
      'EACCES',
      url.origin,
      'a URL must not contain a user name or password; leave them out',
    )
  }
  assertPublicName(url)
  url.hash = ''
  return url
}

/** Returns the host of a URL without brackets or a final dot. */
export function getHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
}

function assertPublicName(url: URL): void {
  const host = getHost(url)
  if (isIP(host) !== 0 || !isLocalName(host)) return
  throw createUrlError(
    'EACCES',
    url.href,
    `'${host}' is a name of a local network; only the public web is fetched`,
  )
}

export function createUrlError(code: 'EINVAL' | 'EACCES', url: string, detail: string): VfsError {
  return new VfsError(code, url.slice(0, MAX_URL_CHARACTERS), { op: 'fetch', detail })
}
