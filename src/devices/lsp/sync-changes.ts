import { FileChangeType } from 'vscode-languageserver-protocol/node'
import { isVfsError } from '../../vfs/index.ts'
import type { LanguageServer } from './language-server.ts'
import { getLanguageId, isSupportedBy, type LanguageServerSpec } from './language-servers.ts'
import type { ChangedFile, WorkspaceCheckout, WorkspaceFiles } from './workspace-files.ts'

/** Limit of documents to send; beyond it the server receives names alone and reads the files itself. */
const MAX_SHOWN = 50

const changeTypes = {
  created: FileChangeType.Created,
  changed: FileChangeType.Changed,
  deleted: FileChangeType.Deleted,
} as const

/**
 * Notifies a server of all changes since its last request. Sends the text of changed files in its languages, so that
 * the next response is about their current content.
 */
export async function syncChanges(
  server: LanguageServer,
  spec: LanguageServerSpec,
  { changes }: WorkspaceCheckout,
  files: WorkspaceFiles,
  signal: AbortSignal,
): Promise<void> {
  if (changes === undefined) return
  const changed = changes.since(server.notifiedVersion)
  server.notifiedVersion = changes.version
  if (changed.length === 0) return
  const toUri = ({ path }: ChangedFile) => files.toFileUri(files.resolvePath(path.slice(1)))
  for (const file of changed) if (file.kind === 'deleted') await server.forget(toUri(file), signal)
  await server.notifyChanged(
    changed.map((file) => ({ uri: toUri(file), type: changeTypes[file.kind] })),
    signal,
  )
  const openable = changed.filter(({ path, kind }) => kind !== 'deleted' && isSupportedBy(spec, path))
  for (const { path } of openable.slice(0, MAX_SHOWN)) await showFile(server, spec, files, path, signal)
}

async function showFile(
  server: LanguageServer,
  spec: LanguageServerSpec,
  files: WorkspaceFiles,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const file = files.resolvePath(path.slice(1))
  try {
    const text = await files.read(file)
    await server.show({ uri: files.toFileUri(file), languageId: getLanguageId(file, spec), text }, signal)
  } catch (error) {
    // The file was deleted again, or the process may not see it.
    if (!isVfsError(error, 'ENOENT') && !isVfsError(error, 'EACCES')) throw error
  }
}
