import { FileChangeType } from 'vscode-languageserver-protocol/node'
import { isVfsError } from '../../vfs/index.ts'
import type { LanguageServer } from './language-server.ts'
import { isKnownBy, type LanguageServerSpec, languageOf } from './language-servers.ts'
import type { ChangedFile, Checkout, WorkspaceFiles } from './workspace-files.ts'

/** Of more, a server is told their names alone, and reads them itself when it comes to that. */
const MAX_SHOWN = 50

const changeTypes = {
  created: FileChangeType.Created,
  changed: FileChangeType.Changed,
  deleted: FileChangeType.Deleted,
} as const

/**
 * Lets a server know what changed since it was asked last, whoever changed it. It is shown the files of its languages
 * rather than left to notice them, so that the next answer is about them as they are.
 */
export async function freshen(
  server: LanguageServer,
  spec: LanguageServerSpec,
  { changes }: Checkout,
  files: WorkspaceFiles,
  signal: AbortSignal,
): Promise<void> {
  if (changes === undefined) return
  const changed = changes.since(server.seen)
  server.seen = changes.version
  if (changed.length === 0) return
  const uriOf = ({ path }: ChangedFile) => files.uriOf(files.pathOf(path.slice(1)))
  for (const file of changed) if (file.kind === 'deleted') await server.forget(uriOf(file), signal)
  await server.tellChanged(
    changed.map((file) => ({ uri: uriOf(file), type: changeTypes[file.kind] })),
    signal,
  )
  const shown = changed.filter(({ path, kind }) => kind !== 'deleted' && isKnownBy(spec, path))
  for (const { path } of shown.slice(0, MAX_SHOWN)) await show(server, spec, files, path, signal)
}

async function show(
  server: LanguageServer,
  spec: LanguageServerSpec,
  files: WorkspaceFiles,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const file = files.pathOf(path.slice(1))
  try {
    const text = await files.read(file)
    await server.show({ uri: files.uriOf(file), languageId: languageOf(file, spec), text }, signal)
  } catch (error) {
    // It is gone again, or not for this process to see.
    if (!isVfsError(error, 'ENOENT') && !isVfsError(error, 'EACCES')) throw error
  }
}
