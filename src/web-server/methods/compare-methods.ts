import { z } from 'zod'
import { countChangedLines, readChangedText, type TreePair } from '../../diff/index.ts'
import { isOverlapPath } from '../../git-files/index.ts'
import { type CallContext, type PathChange, VfsError } from '../../vfs/index.ts'
import { formatTreeRef, type TreeName, type WebChange, type WebFileDiff } from '../../web-api/index.ts'
import { defineWebMethod, type MethodTable, pageShape, query } from '../define-method.ts'
import { FileDiffs } from '../file-diff.ts'
import { mapPage, paginate } from '../paginate.ts'
import { parseTree } from '../trees/home-trees.ts'
import { toWebChange } from '../web-change.ts'
import type { WebContext } from '../web-context.ts'

/** Size up to which the changed lines of a file are counted. */
const MAX_COUNTED_BYTES = 1024 * 1024

const pair = { from: query.text, to: query.text } as const

export function createCompareMethods(
  web: WebContext,
): MethodTable<'listChanges' | 'getFileDiff' | 'listOverlap'> {
  const { comparisons } = web
  const diffs = new FileDiffs(web.redactor)
  return {
    listChanges: defineWebMethod(
      'listChanges',
      z.strictObject({ ...pair, ...pageShape, lines: query.flag.exactOptional() }),
      async ({ from, to, lines = false, ...page }, signal) => {
        const { changes, trees } = await comparisons.compare(from, to, { signal })
        return mapPage(paginate(changes, page), (change) =>
          lines ? countWebChange(change, trees, { signal }) : toWebChange(change),
        )
      },
    ),
    getFileDiff: defineWebMethod(
      'getFileDiff',
      z.strictObject({ ...pair, path: query.text, cursor: query.text.exactOptional() }),
      async ({ from, to, path, cursor }, signal): Promise<WebFileDiff> => {
        const { changes, trees } = await comparisons.compare(from, to, { signal })
        const change = changes.find((each) => each.path === path)
        if (change === undefined)
          throw new VfsError('ENOENT', path, { op: 'diff', detail: `${path} is the same in both trees` })
        return diffs.show(change, trees, cursor, { signal })
      },
    ),
    listOverlap: defineWebMethod(
      'listOverlap',
      z.strictObject({ tree: query.text, ...pageShape }),
      async ({ tree, ...page }, signal) => paginate(await listOverlap(web, tree, { signal }), page),
    ),
  }
}

async function countWebChange(change: PathChange, trees: TreePair, ctx: CallContext): Promise<WebChange> {
  const shown = toWebChange(change)
  if (shown.type !== 'file' || Math.max(shown.oldSize, shown.newSize) > MAX_COUNTED_BYTES) return shown
  const text = await readChangedText(change, trees, ctx)
  return { ...shown, isBinary: text.isBinary, lines: text.isBinary ? null : countChangedLines(text) }
}

/** Lists the paths that several forks of a vault or directory change. */
async function listOverlap(
  { trees, home, comparisons }: WebContext,
  tree: TreeName,
  ctx: CallContext,
): Promise<{ readonly path: string; readonly trees: readonly TreeName[] }[]> {
  const ref = parseTree(tree)
  const forks: TreeName[] = []
  if (ref.kind === 'directory')
    for (const { name } of (await trees.listDirectories()).get(ref.path) ?? [])
      forks.push(formatTreeRef({ kind: 'fork', name }))
  else
    for (const name of await trees.listVaults())
      if ((await home.info(name)).from?.vault === ref.name) forks.push(formatTreeRef({ kind: 'vault', name }))
  const byPath = new Map<string, TreeName[]>()
  for (const fork of forks)
    for (const { path } of (await comparisons.compare(`${fork}^`, fork, ctx)).changes)
      byPath.set(path, [...(byPath.get(path) ?? []), fork])
  return [...byPath]
    .filter(([path, names]) => names.length > 1 && isOverlapPath(path))
    .map(([path, names]) => ({ path, trees: names }))
    .sort((one, other) => (one.path < other.path ? -1 : 1))
}
