import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { VfsError } from '../../../vfs/index.ts'
import { type GitContext, runGit } from '../native/git-command.ts'
import type { GitQuery } from '../native/git-query.ts'

/** Commits that a repository lacks, as a copy of it has them. */
export interface CopiedCommits {
  /** The last of them. */
  readonly tip: string
  /** Files of the copy's `objects` directory that the repository lacks, by their paths in it. */
  readonly objects: ReadonlyMap<string, () => Promise<Uint8Array>>
}

/**
 * Takes commits from a copy of a repository. Git itself checks and transfers them, so that damaged or missing objects are
 * refused, with EIO. No ref leads to them afterwards: the caller makes one.
 */
export async function fetchCommits(
  git: GitQuery,
  { tip, objects }: CopiedCommits,
  context: GitContext,
): Promise<void> {
  const copy = await mkdtemp(join(tmpdir(), 'coppice-commits-'))
  try {
    const format = (await git.readLine('rev-parse', '--show-object-format')) ?? 'sha1'
    const known = await git.readLine('rev-parse', '--path-format=absolute', '--git-path', 'objects')
    await runGit(['init', '--quiet', '--bare', `--object-format=${format}`, copy], context)
    await writeFile(join(copy, 'objects/info/alternates'), `${known}\n`)
    for (const [path, read] of objects) await writeObject(join(copy, 'objects', path), await read())
    await writeFile(join(copy, 'refs/heads/tip'), `${tip}\n`)
    const args = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', copy, 'refs/heads/tip']
    const { code, stderr } = await runGit(['-C', git.directory, ...args], {
      ...context,
      protocols: 'file',
      settings: { ...context.settings, 'fetch.fsckObjects': 'true' },
    })
    if (code !== 0) throw createFetchError(git.directory, stderr)
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}

async function writeObject(file: string, content: Uint8Array): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, content)
}

function createFetchError(directory: string, stderr: string): VfsError {
  const detail = `git refused the commits: ${stderr.split('\n').at(-1)}`
  return new VfsError('EIO', directory, { op: 'export', detail })
}
