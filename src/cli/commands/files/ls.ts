import { escapeName } from '../../../text/index.ts'
import {
  type CallContext,
  child,
  type DirEntry,
  type FileSystem,
  isVfsError,
  type Stat,
} from '../../../vfs/index.ts'
import { findDevicePath, listDevices } from '../../access/device-paths.ts'
import { getVaultView, withVault } from '../../access/home-access.ts'
import { parseVaultPath } from '../../access/parse-vault-path.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { applyStyle, type Terminal } from '../../framework/terminal.ts'
import { formatTime } from '../../render/format-values.ts'
import { at } from '../shared-options.ts'

const SIZE_COLUMN = 12

export const ls: Command = defineCommand(
  {
    name: 'ls',
    summary: 'List a directory',
    details: 'Paths in /dev, /proc and /mnt/mcp belong to the daemon, unless --vault is given.',
    scope: 'vault',
    options: { long: { summary: 'Print permissions, size and time', short: 'l' }, at },
    arguments: {
      path: { summary: 'Directory to list (default: the root)', isOptional: true, offers: 'path' },
    },
    examples: ['coppice ls', 'coppice ls /src -l', 'coppice ls /src --at before --json', 'coppice ls /dev'],
  },
  (call) => {
    const device = findDevicePath(call, call.optionalArgument('path'))
    if (device !== undefined) return listDevices(call, device)
    return withVault(call, async ({ vault, ctx }) => {
      const { output, terminal } = call
      const fs = getVaultView(call, vault)
      const path = parseVaultPath(call.optionalArgument('path') ?? '/')
      const hasEntries = await isDirectory(fs, path, ctx)
      const entries = hasEntries
        ? fs.readdir(path, ctx)
        : [{ name: path, type: (await fs.stat(path, ctx)).type }]
      const toPath = (name: string) => (hasEntries ? child(path, name) : path)
      if (!call.has('long') && !call.isJson) {
        await output.writeList(entries, (entry) => formatName(terminal, entry))
        return
      }
      const details = async function* () {
        for await (const entry of entries) yield { ...entry, ...(await fs.stat(toPath(entry.name), ctx)) }
      }
      await output.writeList(details(), (entry) => formatLongEntry(terminal, entry))
    })
  },
)

/** Reports whether a path is a directory or a link to one. */
async function isDirectory(fs: FileSystem, path: string, ctx: CallContext): Promise<boolean> {
  const { type } = await fs.stat(path, ctx)
  if (type !== 'symlink') return type === 'directory'
  try {
    await fs.readdir(path, ctx)[Symbol.asyncIterator]().next()
    return true
  } catch (error) {
    if (isVfsError(error)) return false
    throw error
  }
}

function formatName(terminal: Terminal, { name, type }: DirEntry): string {
  if (type === 'directory') return `${applyStyle(terminal, 'blue', escapeName(name))}/`
  return type === 'symlink' ? `${applyStyle(terminal, 'cyan', escapeName(name))}@` : escapeName(name)
}

function formatLongEntry(terminal: Terminal, entry: DirEntry & Stat): string {
  const mode = entry.mode === null ? '----' : entry.mode.toString(8).padStart(4, '0')
  const size = String(entry.size).padStart(SIZE_COLUMN)
  return `${mode} ${size} ${formatTime(entry.mtime)} ${formatName(terminal, entry)}`
}
