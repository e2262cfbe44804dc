import { fileURLToPath } from 'node:url'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { measureMcp } from '../mcp.ts'
import { prepareServedDirectory } from '../served-directory.ts'

const MODULE = '@modelcontextprotocol/server-filesystem/dist/index.js'

/** The official file server. `list_directory` gives names alone, as our listing does. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const root = prepareServedDirectory(settings, 'mcp-peer')
  await measureMcp(recorder, settings, {
    args: [fileURLToPath(import.meta.resolve(MODULE)), root],
    root,
    read: (path) => ({ name: 'read_text_file', arguments: { path } }),
    write: (path, content) => ({ name: 'write_file', arguments: { path, content } }),
    list: (path) => ({ name: 'list_directory', arguments: { path } }),
    edit: (path, oldText, newText) => ({
      name: 'edit_file',
      arguments: { path, edits: [{ oldText, newText }] },
    }),
    search: (path, pattern) => ({ name: 'search_files', arguments: { path, pattern } }),
  })
}
