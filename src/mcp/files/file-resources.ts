import type { ReadResourceResult, Resource, ResourceTemplateType } from '@modelcontextprotocol/server'
import { escapeUnprintable, toUri } from '../../tools/index.ts'
import { basename, type CallContext, type FileSystem, isWithin, type PathChange } from '../../vfs/index.ts'
import type { ResourceChange, ResourcePage, ResourceSource } from '../resource-source.ts'
import { parseResourceUri, toProtocolError } from './file-uri.ts'
import { DIRECTORY_TYPE, findMimeType } from './mime-types.ts'
import { readResource } from './resource-content.ts'
import { type ListedFile, listFiles } from './resource-listing.ts'
import { getPage } from './resource-pages.ts'

/** Variable of the template, which completion completes. */
export const PATH_VARIABLE = 'path'
const TEMPLATE = `vfs:///{+${PATH_VARIABLE}}`

/** The files that `FileResources` serves. */
export interface ResourceFiles {
  readonly fs: FileSystem
  readonly ctx: CallContext
  /** Directories to list; everything else can be read by URI. */
  readonly roots: readonly string[]
  watch(path: string, ctx: CallContext): AsyncIterable<PathChange>
}

/** Files as resources: `vfs:///` URIs, of which some are listed and all can be read, directories as listings. */
export class FileResources implements ResourceSource {
  readonly #files: ResourceFiles

  constructor(files: ResourceFiles) {
    this.#files = files
  }

  async list(cursor: string | undefined, signal: AbortSignal): Promise<ResourcePage> {
    const files = await listFiles(this.#files, { ...this.#files.ctx, signal })
    const { items, nextCursor } = getPage(files, cursor)
    return { resources: items.map(toResource), ...(nextCursor !== undefined && { nextCursor }) }
  }

  templates(): readonly ResourceTemplateType[] {
    return [
      {
        uriTemplate: TEMPLATE,
        name: 'file',
        title: 'Any file or directory',
        description:
          'A file, as text or bytes, or a directory, as a listing, by its path without the first slash',
      },
    ]
  }

  async read(uri: string, signal: AbortSignal): Promise<ReadResourceResult['contents']> {
    const path = parseResourceUri(uri)
    try {
      return [{ uri, ...(await readResource(this.#files.fs, path, { ...this.#files.ctx, signal })) }]
    } catch (error) {
      throw toProtocolError(uri, error)
    }
  }

  assertKnown(uri: string): void {
    parseResourceUri(uri)
  }

  async *changes(signal: AbortSignal): AsyncGenerator<ResourceChange> {
    for await (const change of this.#files.watch('/', { ...this.#files.ctx, signal })) {
      yield {
        affects: (uri) => isAffected(change, parseResourceUri(uri)),
        affectsList: this.#affectsList(change),
      }
    }
  }

  #affectsList({ kind, path, from = path }: PathChange): boolean {
    if (kind === 'modified') return false
    return this.#files.roots.some((root) => isWithin(path, root) || isWithin(from, root))
  }
}

/** True if a change is at, below or above a watched path. */
function isAffected({ path, from = path }: PathChange, watched: string): boolean {
  return [path, from].some((changed) => isWithin(changed, watched) || isWithin(watched, changed))
}

function toResource({ path, type }: ListedFile): Resource {
  const mimeType = type === 'directory' ? DIRECTORY_TYPE : findMimeType(basename(path))
  return {
    uri: toUri(path),
    name: escapeUnprintable(path.slice(1)),
    ...(mimeType !== undefined && { mimeType }),
  }
}
