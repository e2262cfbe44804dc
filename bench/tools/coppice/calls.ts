import { fileURLToPath } from 'node:url'
import type { McpSubject } from '../mcp-server.ts'

/** Returns the arguments with which Node runs `coppice …`. */
export function coppice(...args: readonly string[]): string[] {
  return [
    '--conditions=coppice-source',
    '--no-warnings',
    fileURLToPath(new URL('./serve.ts', import.meta.url)),
    ...args,
  ]
}

/** Our tools; a directory of the machine is listed as a search is, for `vfs_list` knows the namespace only. */
export const calls: Pick<McpSubject, 'read' | 'write' | 'edit' | 'search'> = {
  read: (path) => ({ name: 'file_read', arguments: { path, numbered: false } }),
  write: (path, content) => ({ name: 'write_file', arguments: { path, content } }),
  edit: (path, find, replace) => ({
    name: 'file_edit',
    arguments: { path, operation: 'replace_string', find, replace },
  }),
  search: (path, pattern) => ({ name: 'file_glob', arguments: { path, pattern } }),
}
