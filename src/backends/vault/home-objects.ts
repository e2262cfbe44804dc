import { VfsError } from '../../vfs/index.ts'
import { S3Segments, type S3SegmentsOptions } from '../s3/index.ts'

/** The bucket with the large content of a home in a database. */
export interface HomeObjects extends Omit<S3SegmentsOptions, 'readOnlyReason' | 'interruption'> {
  /** URL of a server that is not Amazon's. */
  readonly endpoint?: string
  readonly region?: string
  /**
   * True for a bucket that has all objects of the home and that nothing else uses, such as after a restore: the home
   * uses it from now on. Without it, a restored copy leaves the objects of the original alone.
   */
  readonly claim?: boolean
}

/** Region in the signature for servers that have none. */
const DEFAULT_REGION = 'us-east-1'

/** Returns the place as a home records it: `s3://bucket/prefix?endpoint=…&region=…`. EINVAL if it is none. */
export function formatObjectsUrl({ bucket, prefix = '', endpoint, region }: HomeObjects): string {
  const query = new URLSearchParams({
    ...(endpoint !== undefined && { endpoint }),
    ...(region !== undefined && { region }),
  })
  const path = [bucket, ...prefix.split('/').filter((part) => part !== '')].join('/')
  const text = `s3://${path}${query.size === 0 ? '' : `?${query}`}`
  parseObjectsUrl(text)
  return text
}

/** Parses the URL of a bucket. EINVAL for another URL, and for one with credentials: everybody could read them. */
export function parseObjectsUrl(text: string): HomeObjects {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const names = [...(url?.searchParams.keys() ?? [])]
  const isKnown = names.every((name) => name === 'endpoint' || name === 'region')
  if (url === undefined || url.protocol !== 's3:' || url.host === '' || url.username !== '' || !isKnown) {
    const detail = `'${text}' is no URL such as s3://bucket/prefix?endpoint=https://…&region=…; credentials come from the environment`
    throw new VfsError('EINVAL', '/', { op: 'open', detail })
  }
  const [endpoint, region] = [url.searchParams.get('endpoint'), url.searchParams.get('region')]
  return {
    bucket: url.host,
    prefix: url.pathname.split('/').filter(Boolean).map(decodeURIComponent).join('/'),
    ...(endpoint !== null && { endpoint }),
    ...(region !== null && { region }),
  }
}

/**
 * Opens the bucket of a home by its recorded URL. Missing settings and credentials come from the environment.
 * @param client of this process, in place of one that the URL describes.
 */
export function openObjects(
  text: string,
  client: HomeObjects['client'],
  options: Pick<S3SegmentsOptions, 'readOnlyReason' | 'interruption'>,
): S3Segments {
  const { bucket, prefix = '', endpoint, region } = parseObjectsUrl(text)
  const settings = {
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true, region: region ?? DEFAULT_REGION }),
    ...(region !== undefined && { region }),
  }
  return new S3Segments({ bucket, prefix, client: client ?? settings, ...options })
}
