import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import { VfsError } from '../../../vfs/index.ts'
import { type GitContext, runGit } from './git-command.ts'
import { NativeReader } from './native-reader.ts'
import { PartialClone } from './partial-clone.ts'

export interface RemoteOptions {
  /** A directory for what is fetched: a bare repository, made if it is missing. Several commits may share it. */
  readonly cache: string
  /** A branch, a tag or a full id. `HEAD` when absent. */
  readonly ref?: string
  /** The value of the `Authorization` header, such as `Bearer …`. Neither stored nor shown in a list of processes. */
  readonly authorization?: string
  /** Fetch the whole history, not the one commit. */
  readonly history?: boolean
  /** Variables for Git: `PATH` to find it, proxies. */
  readonly environment?: Readonly<Record<string, string>>
  /** The deadline of each fetch. An hour when absent. */
  readonly timeoutMs?: number
  /** Limits the memory that each process of Git may allocate for a fetch. 4 GiB when absent. */
  readonly maxMemoryBytes?: number
  readonly signal?: AbortSignal
}

const TIMEOUT_MS = 60 * 60 * 1000
const MAX_MEMORY_BYTES = 4 * 2 ** 30

/** What may stand for a commit at the other side: Git's rules for names, without what fetch would read as more than one. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const INVALID_REF = /^$|^[-+/]|\.\.|[\u0000-\u0020\u007f~^:?*[\\]|@\{|\/$|\.lock$/

/** Fetches a commit with its directories, and no content. EINVAL, ENOENT, EUNAVAILABLE, ETIMEDOUT. */
export async function openRemoteCache(
  url: string,
  options: RemoteOptions,
): Promise<{ reader: NativeReader; commit: string }> {
  const { ref = 'HEAD', cache, history = false, signal } = options
  const address = checkUrl(url)
  if (INVALID_REF.test(ref))
    throw new VfsError('EINVAL', address, { op: 'open', detail: `'${ref}' is no branch, tag or id` })
  const directory = resolve(cache)
  const clone = new PartialClone(directory, createRemoteContext(address, options), {
    url: address,
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
  })
  await initRepository(directory, options)
  // A name of its own for each, so that fetches at the same time do not meet.
  const kept = `refs/coppice/${createHash('sha256').update(`${address}\n${ref}`).digest('hex')}`
  await clone.fetchCommit(`+${ref}:${kept}`, history, signal)
  // Without the settings of the remote: for this one, what is missing is missing and not fetched one by one.
  const { environment } = options
  const surroundings: GitContext = environment === undefined ? {} : { environment }
  const reader = new NativeReader({ directory, surroundings, missing: clone })
  return { reader, commit: await reader.resolve(kept) }
}

async function initRepository(directory: string, { environment, signal }: RemoteOptions): Promise<void> {
  const surroundings = {
    ...(environment !== undefined && { environment }),
    ...(signal !== undefined && { signal }),
  }
  const { code, stderr } = await runGit(
    ['init', '--quiet', '--bare', '--template=', '--', directory],
    surroundings,
  )
  if (code === 0) return
  const detail = `the cache could not be made: ${stderr}`
  throw new VfsError('EIO', directory, { op: 'open', detail })
}

function createRemoteContext(url: string, options: RemoteOptions): GitContext {
  const { authorization, environment, maxMemoryBytes = MAX_MEMORY_BYTES } = options
  return {
    ...(environment !== undefined && { environment }),
    protocols: 'http:https',
    maxMemoryBytes,
    settings: {
      'remote.origin.url': url,
      'remote.origin.promisor': 'true',
      'remote.origin.partialclonefilter': 'blob:none',
      'protocol.version': '2',
      // A server that sends less than 1,000 bytes a second for a minute is given up.
      'http.lowSpeedLimit': '1000',
      'http.lowSpeedTime': '60',
      'fetch.negotiationAlgorithm': 'noop',
      ...(authorization !== undefined && {
        [`http.${new URL(url).origin}/.extraHeader`]: `Authorization: ${authorization}`,
      }),
    },
  }
}

/** Only what is fetched over HTTP: other addresses can start programs. */
function checkUrl(url: string): string {
  const { protocol } = URL.parse(url) ?? { protocol: '' }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  if ((protocol === 'http:' || protocol === 'https:') && !/[\u0000-\u0020]/.test(url)) return url
  const detail =
    'only http and https addresses are fetched; a directory of this machine is opened with openGit'
  throw new VfsError('EINVAL', url, { op: 'open', detail })
}
