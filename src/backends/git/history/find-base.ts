import { createHash } from 'node:crypto'
import type { GitQuery } from '../native/git-query.ts'

/** Limits on what is compared: commits, files of each, and the size of a file. */
const [MAX_COMMITS, MAX_FILES, MAX_FILE_BYTES] = [50, 500, 64 * 2 ** 20]

/** A file before a change. */
export interface BaseFile {
  /** Its path in the directory. */
  readonly path: string
  readonly size: number
  /** Reads its content; absent if there was no file. */
  readonly read?: () => Promise<Uint8Array>
}

/**
 * Finds the commit that changes began from: the newest one, of the given commit and its ancestors, in which the changed
 * files are as they were before. If none has all of them so, as where a person had edited them, it is the one with most.
 * @param prefix path of the directory in the repository, with a slash at its end, or empty.
 */
export async function findBase(
  git: GitQuery,
  head: string,
  files: readonly BaseFile[],
  prefix: string,
): Promise<string> {
  const format = (await git.readLine('rev-parse', '--show-object-format')) ?? 'sha1'
  // Git reads one name from each line.
  const readable = files.filter(({ path, size }) => !path.includes('\n') && size <= MAX_FILE_BYTES)
  const compared = readable.slice(0, MAX_FILES)
  const ids: (string | undefined)[] = []
  // One after another: together they may not fit into memory.
  for (const { read } of compared) ids.push(read && hashBlob(await read(), format))
  const names = compared.map(({ path }) => `${prefix}${path.slice(1)}`)
  let best = { commit: head, matches: -1 }
  for (const commit of [head, ...(await listBefore(git, head, compared))]) {
    const found = await readBlobIds(git, commit, names)
    const matches = ids.filter((id, index) => id === found[index]).length
    if (matches > best.matches) best = { commit, matches }
    if (matches === compared.length) break
  }
  return best.commit
}

/** Lists the commits before each one that changed some files, the newest first. */
async function listBefore(git: GitQuery, head: string, files: readonly BaseFile[]): Promise<string[]> {
  const paths = files.map(({ path }) => path.slice(1))
  const args = ['--literal-pathspecs', 'log', `--max-count=${MAX_COMMITS}`, '--format=%P', '--stdin']
  const parents = await git.read(args, [head, '--', ...paths, ''].join('\n'))
  return [...new Set(parents?.split(/\s+/).filter((id) => id !== ''))].slice(0, MAX_COMMITS)
}

/** Reads the ids of files in a commit; undefined for those that it does not have. */
async function readBlobIds(
  git: GitQuery,
  commit: string,
  names: readonly string[],
): Promise<(string | undefined)[]> {
  const input = names.map((name) => `${commit}:${name}\n`).join('')
  const lines = (await git.read(['cat-file', '--batch-check'], input))?.split('\n') ?? []
  return names.map((_, index) => lines[index]?.match(/^([0-9a-f]+) blob \d+$/)?.[1])
}

function hashBlob(content: Uint8Array, format: string): string {
  return createHash(format).update(`blob ${content.length}\0`).update(content).digest('hex')
}
