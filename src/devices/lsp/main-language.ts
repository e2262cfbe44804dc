import type { DeviceContext } from '../../kernel/index.ts'
import { VfsError } from '../../vfs/index.ts'
import { isSupportedBy, type LanguageServerSpec } from './language-servers.ts'

/** Number of files to look at: a project shows its language early. */
const MAX_FILES = 2000
/** Matches files in directories that do not count: dependencies, build output, metadata. */
const FOREIGN = /\/(?:node_modules|vendor|target|dist|\.git|\.venv)\//

/** Returns the server that supports most of the first files of a workspace. ENOTSUP if none supports any. */
export async function findMainServer(
  servers: readonly LanguageServerSpec[],
  root: string,
  ctx: DeviceContext,
): Promise<LanguageServerSpec> {
  const counts = new Map<LanguageServerSpec, number>()
  let left = MAX_FILES
  for await (const { path, stat } of ctx.fs.walk(root, {}, ctx)) {
    if (stat.type !== 'file' || FOREIGN.test(path)) continue
    const server = servers.find((spec) => isSupportedBy(spec, path))
    if (server !== undefined) counts.set(server, (counts.get(server) ?? 0) + 1)
    if (--left === 0) break
  }
  const [most] = [...counts].sort(([, one], [, other]) => other - one)
  if (most !== undefined) return most[0]
  const extensions = servers.flatMap(({ languages }) => Object.keys(languages)).join(', ')
  const detail = `no file of the workspace has a language server; there are some for ${extensions}`
  throw new VfsError('ENOTSUP', root, { op: 'lsp', detail })
}
