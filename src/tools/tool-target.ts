import {
  type CallContext,
  type FileSystem,
  isLinkable,
  isVfsError,
  isWithin,
  type Stat,
  strict,
  VfsError,
} from '../vfs/index.ts'
import { escapeUnprintable } from './text/escape-unprintable.ts'
import type { ToolEnvironment } from './tool-environment.ts'
import { fromUri, isUri, toUri } from './uri.ts'
import type { Workspace } from './workspace.ts'

/** Largest editable file; versions of larger ones are not tracked. */
export const MAX_EDITABLE_BYTES: number = 16 * 1024 * 1024

const SHARED = '/shared'

/** The part of the environment that namespace tools use. */
type NamespaceEnvironment = Pick<ToolEnvironment, 'fs' | 'workspace'>

/** Resolved argument: a file system, a path in it, and the shown form of its paths. */
export interface ToolTarget {
  readonly fs: FileSystem
  readonly path: string
  readonly displayPath: string
  show(path: string): string
}

/**
 * Resolves a `vfs:///` URI, a path in the workspace or a host path. EINVAL if it is none, EACCES if it is not allowed.
 */
export async function resolveTarget(environment: ToolEnvironment, text: string): Promise<ToolTarget> {
  if (isUri(text) || isWorkspacePath(environment, text)) return resolveUri(environment, text)
  assertNoOtherScheme(text)
  if (environment.host === undefined) {
    const directory = environment.workspace?.directory
    const exception = directory === undefined ? '' : `, except below ${escapeUnprintable(directory)}`
    throw createTargetError(
      'EACCES',
      text,
      `paths of this machine are not available here${exception}; give a vfs:/// URI, ${formatUriHint(environment, text)}`,
    )
  }
  const { fs, path, display } = await environment.host.locate(text)
  return {
    fs,
    path,
    displayPath: escapeUnprintable(display),
    show: (requested) => escapeUnprintable(requested === path ? display : requested),
  }
}

/** Resolves the path of a namespace tool. EINVAL if it is neither a `vfs:///` URI nor a path in the workspace. */
export function resolveUri(environment: NamespaceEnvironment, uri: string): ToolTarget {
  const { fs, workspace } = environment
  if (isWorkspacePath(environment, uri)) return resolveWorkspacePath(environment, uri)
  if (!isUri(uri)) {
    assertNoOtherScheme(uri)
    throw createTargetError(
      'EINVAL',
      uri,
      `this tool takes ${formatTakenPaths(workspace)}, ${formatUriHint({ fs, workspace }, uri)}`,
    )
  }
  const path = fromUri(uri)
  return { fs, path, displayPath: toUri(path), show: toUri }
}

/**
 * Returns the stat of a path about to be opened, links followed. EINVAL for a pipe, socket or device, which may block
 * forever.
 */
export async function statOpenable({ fs, path }: ToolTarget, ctx: CallContext): Promise<Stat> {
  const stat = await statFollowed(fs, path, ctx)
  if (stat.type === 'other') throw createTargetError('EINVAL', path, 'a pipe, socket or device is not a file')
  return stat
}

/** Like `statOpenable`, for a file: a directory is EISDIR. */
export async function statOpenableFile(target: ToolTarget, ctx: CallContext): Promise<Stat> {
  const stat = await statOpenable(target, ctx)
  if (stat.type !== 'directory') return stat
  throw createTargetError(
    'EISDIR',
    target.path,
    'a directory, not a file; list it with vfs_list or file_glob',
  )
}

/** Replaces the path of a file-system error by its shown form. */
export function withShownPath(error: unknown, show: (path: string) => string): unknown {
  if (!isVfsError(error) || !error.path.startsWith('/')) return error
  return VfsError.withPath(error, show(error.path))
}

async function statFollowed(fs: FileSystem, path: string, ctx: CallContext): Promise<Stat> {
  const stat = await fs.stat(path, ctx)
  if (stat.type !== 'symlink' || !isLinkable(fs)) return stat
  return fs.stat(await fs.realpath(path, { followLast: true }, ctx), ctx)
}

/** Reports whether a path means the workspace: it is relative, or that of its directory on this machine. */
function isWorkspacePath({ workspace }: NamespaceEnvironment, text: string): boolean {
  if (workspace === undefined || text === '') return false
  if (isInDirectory(workspace, text)) return true
  return !/^(?:[/~]|[a-z][a-z0-9+.-]*:)/i.test(text)
}

function formatTakenPaths(workspace: Workspace | undefined): string {
  const directory = workspace?.directory
  return directory === undefined
    ? 'vfs:/// URIs only'
    : `vfs:/// URIs and paths below ${escapeUnprintable(directory)}`
}

/** Formats the URI that an absolute path may stand for, or an example if the path is rather one of this machine. */
function formatUriHint({ workspace }: NamespaceEnvironment, text: string): string {
  const isOfMachine =
    workspace?.directory !== undefined &&
    ![workspace.path, SHARED].some((zone) => text.startsWith('/') && isWithin(text, zone))
  if (isOfMachine) return `such as ${toUri(workspace.path)}/src/a.ts`
  return text.startsWith('/') ? `did you mean ${toUri(text)}?` : 'such as vfs:///shared/notes.md'
}

/**
 * Reports whether a path is in the directory of a workspace. Commands see the workspace there, and print such paths.
 */
function isInDirectory({ directory }: Workspace, text: string): boolean {
  return directory !== undefined && text.startsWith('/') && isWithin(text, directory)
}

function resolveWorkspacePath({ fs, workspace }: NamespaceEnvironment, text: string): ToolTarget {
  const root = workspace?.path ?? '/'
  const isAbsolute = workspace !== undefined && isInDirectory(workspace, text)
  const relative = isAbsolute ? text.slice(workspace.directory?.length).replace(/^\/+/, '') : text
  const inner = relative.replace(/^(?:\.\/)+/, '')
  const path = inner === '' || inner === '.' ? root : strict(`${root}/${inner}`)
  return { fs, path, displayPath: toUri(path), show: toUri }
}

function assertNoOtherScheme(text: string): void {
  const [scheme] = /^[a-z][a-z0-9+.-]*:\/\//i.exec(text) ?? []
  if (scheme === undefined) return
  throw createTargetError(
    'EINVAL',
    text,
    `${scheme} is not supported; give a vfs:/// URI, such as vfs:///shared/notes.md`,
  )
}

function createTargetError(code: 'EINVAL' | 'EACCES' | 'EISDIR', path: string, detail: string): VfsError {
  return new VfsError(code, path, { op: 'open', detail })
}
