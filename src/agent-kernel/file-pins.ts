import { createHash } from 'node:crypto'
import type { Pin, Pins } from '../devices/mcp/index.ts'
import { type FileSystem, isVfsError, readText } from '../vfs/index.ts'

/** Stores the approvals of MCP servers, one file each below a directory. */
export function createFilePins(fs: FileSystem, directory: string): Pins {
  const getPinPath = (server: string) => `${directory}/${createHash('sha256').update(server).digest('hex')}`
  return {
    async get(server) {
      try {
        return parsePin(await readText(fs, getPinPath(server)))
      } catch (error) {
        if (isVfsError(error, 'ENOENT')) return undefined
        throw error
      }
    },
    set: (server, pin) => fs.write(getPinPath(server), `${JSON.stringify(pin)}\n`),
  }
}

/** Parses an approval; older versions stored the hash alone. A malformed one matches no server, forcing a review. */
function parsePin(text: string): Pin {
  try {
    const pin: Pin = JSON.parse(text)
    return pin
  } catch {
    return { hash: text.trim(), tools: [] }
  }
}
