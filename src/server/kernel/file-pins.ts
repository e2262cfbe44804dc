import { createHash } from 'node:crypto'
import type { Pins } from '../../devices/mcp/index.ts'
import { type FileSystem, isVfsError, readText } from '../../vfs/index.ts'

/** What was approved of MCP servers, a file for each below a directory. */
export function filePins(fs: FileSystem, directory: string): Pins {
  const fileOf = (server: string) => `${directory}/${createHash('sha256').update(server).digest('hex')}`
  return {
    async get(server) {
      try {
        return (await readText(fs, fileOf(server))).trim()
      } catch (error) {
        if (isVfsError(error, 'ENOENT')) return undefined
        throw error
      }
    },
    set: (server, hash) => fs.write(fileOf(server), `${hash}\n`),
  }
}
