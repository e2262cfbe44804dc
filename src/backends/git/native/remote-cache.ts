import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import { VfsError } from '../../../vfs/index.ts'
import type { GitContext } from './git-command.ts'
import { NativeReader } from './native-reader.ts'
import { PartialClone } from './partial-clone.ts'
import { runGitBesideOthers } from './run-beside-others.ts'

/** Options of `openRemoteGit`. */
export interface RemoteOptions {
  /** Directory of a bare repository for fetched objects, created if missing. Several commits may share it. */
  readonly cache: string
  /** A branch, a tag or a full id. `HEAD` when absent. */
  readonly ref?: string
  /** Value of the `Authorization` header, such as `Bearer …`. Neither stored nor shown in a process list. */
  readonly authorization?: string
  /** Fetch the whole history, not the one commit. */
  readonly history?: boolean
  /** Variables for Git: `PATH` to find it, proxies. */
  readonly environment?: Readonly<Record<string, string>>
  /** Time limit of each fetch. An hour when absent. */
  readonly timeoutMs?: number
  /** Limits the memory of each Git process that fetches. 4 GiB when absent. */
  readonly maxMemoryBytes?: number
  readonly signal?: AbortSignal
}

const TIMEOUT_MS = 60 * 60 * 1000
const MAX_MEMORY_BYTES = 4 * 2 ** 30

/** Refs that Git refuses, or that fetch would read as more than one name. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const INVALID_REF = /^$|^[-+/]|\.\.|[\u0000-\u0020\u007f~^:?*[\\]|@\{|\/$|\.lock$/

/** Fetches a commit with its directories but no content. EINVAL, ENOENT, EUNAVAILABLE, ETIMEDOUT. */
export async function openRemoteCache(
  url: string,
  options: RemoteOptions,
): Promise<{ reader: NativeReader; commit: string }> {
  const { ref = 'HEAD', cache, history = false, signal } = options
  const address = checkUrl(url)
  if (INVALID_REF.test(ref))
    throw new VfsError('EINVAL', address, { op: 'open', detail: `'${ref}' is not a branch, tag or id` })
  const directory = resolve(cache)
  const clone = new PartialClone(directory, createRemoteContext(address, options), {
    url: address,
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
  })
  await initRepository(directory, options)
  // One ref for each address and name, so that concurrent fetches do not collide.
  const localRef = `refs/coppice/${createHash('sha256').update(`${address}\n${ref}`).digest('hex')}`
  await clone.fetchCommit(`+${ref}:${localRef}`, history, signal)
  // The reader gets no remote: it must not fetch missing objects one by one.
  const { environment } = options
  const context: GitContext = environment === undefined ? {} : { environment }
  const reader = new NativeReader({ directory, context, fetcher: clone })
  return { reader, commit: await reader.resolve(localRef) }
}

async function initRepository(directory: string, { environment, signal }: RemoteOptions): Promise<void> {
  const context = {
    ...(environment !== undefined && { environment }),
    ...(signal !== undefined && { signal }),
  }
  const args = ['init', '--quiet', '--bare', '--template=', '--', directory]
  const { code, stderr } = await runGitBesideOthers(args, context)
  if (code === 0) return
  const detail = `cannot create the cache: ${stderr}`
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
      // Git gives up on a server that sends less than 1,000 bytes a second for a minute.
      'http.lowSpeedLimit': '1000',
      'http.lowSpeedTime': '60',
      'fetch.negotiationAlgorithm': 'noop',
      ...(authorization !== undefined && {
        [`http.${new URL(url).origin}/.extraHeader`]: `Authorization: ${authorization}`,
      }),
    },
  }
}

/** Accepts only HTTP addresses: others can start programs. */
function checkUrl(url: string): string {
  const { protocol } = URL.parse(url) ?? { protocol: '' }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  if ((protocol === 'http:' || protocol === 'https:') && !/[\u0000-\u0020]/.test(url)) return url
  const detail = 'only http and https addresses can be fetched; open a local directory with openGit'
  throw new VfsError('EINVAL', url, { op: 'open', detail })
}
