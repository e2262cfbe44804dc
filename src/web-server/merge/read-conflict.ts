import { digestSides, mergeText, type TextSides, type Vault } from '../../backends/vault/index.ts'
import { isVfsError, VfsError } from '../../vfs/index.ts'
import type { MergeParams, WebAuthor, WebConflictSides } from '../../web-api/index.ts'
import type { PendingMerge } from '../../workspace/index.ts'
import { shortenText } from '../shorten-text.ts'
import { WebAuthors } from '../web-author.ts'
import type { WebContext } from '../web-context.ts'
import { toPendingMerge } from './merge-request.ts'
import { performWebMerge } from './perform-web-merge.ts'

/** Length up to which a side of a conflict is shown whole. */
const MAX_SIDE_LENGTH = 1024 * 1024
const MAX_AUTHORS = 5

/** Reads the texts of a conflict, and who wrote them. ENOENT if the path has no lines in conflict. */
export async function readConflict(
  web: WebContext,
  params: MergeParams,
  path: string,
  signal: AbortSignal,
): Promise<WebConflictSides> {
  const merge = await toPendingMerge(web.trees, params)
  const sides = await findSides(web, merge, params, path, signal)
  const { kind, sources, target } = merge
  const decode = (bytes: string) => Buffer.from(bytes, 'latin1').toString()
  const show = (bytes: string) => shortenText(decode(bytes), web.redactor, MAX_SIDE_LENGTH)
  const names = { ours: kind === 'apply' ? 'this directory' : target, theirs: sources.join(' and ') }
  const texts = [sides.base, sides.ours, sides.theirs].map(decode)
  return {
    path,
    base: show(sides.base),
    ours: show(sides.ours),
    theirs: show(sides.theirs),
    merged: show(mergeText(sides, names).text),
    digest: digestSides(sides),
    isRedacted: texts.some((side) => web.redactor.redactText(side) !== side),
    oursBy: kind === 'apply' ? [] : await listAuthors(await web.home.vault(target), path),
    theirsBy: await listAuthors(await web.home.vault(sources[0] ?? ''), path),
  }
}

/** Finds the sides by a trial of the merge: of this file alone if that has the conflict too, which takes less time. */
async function findSides(
  web: WebContext,
  merge: PendingMerge,
  params: MergeParams,
  path: string,
  signal: AbortSignal,
): Promise<TextSides> {
  const find = async (tried: MergeParams) =>
    (await performWebMerge(web, tried, { isTrial: true, signal })).texts.get(path)
  const alone = selectAlone(merge, params, path)
  // A conflict may need more than the file, such as a renamed directory.
  const found = alone && (await find(alone).catch(ignoreVfsError))
  const sides = found ?? (await find(params))
  if (sides !== undefined) return sides
  throw new VfsError('ENOENT', path, { op: 'merge', detail: `${path} has no lines in conflict` })
}

/** Returns the merge of one of the selected files; undefined if it cannot be merged alone. */
function selectAlone({ kind }: PendingMerge, params: MergeParams, path: string): MergeParams | undefined {
  if (kind === 'fork') return undefined
  const file = params.selection === 'all' ? { path } : params.selection.find((each) => each.path === path)
  const resolutions = params.resolutions?.filter((each) => each.path === path) ?? []
  return file && { ...params, selection: [file], resolutions }
}

function ignoreVfsError(error: unknown): undefined {
  if (isVfsError(error)) return undefined
  throw error
}

/** Lists the last authors of a path, the latest first. */
async function listAuthors(vault: Vault, path: string): Promise<WebAuthor[]> {
  const authors = await WebAuthors.read(vault)
  const found = new Map<string, WebAuthor>()
  for await (const row of vault.journal({ path, newestFirst: true, inherited: true })) {
    const author = authors.find(row, row.seq)
    const key = `${author.kind} ${author.context} ${author.pid}`
    if (!found.has(key)) found.set(key, author)
    if (found.size === MAX_AUTHORS) break
  }
  return [...found.values()]
}
