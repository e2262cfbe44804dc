import { shown } from '../../server/text/index.ts'
import {
  type CallContext,
  child,
  type DirEntry,
  type FileSystem,
  isVfsError,
  type Stat,
} from '../../vfs/index.ts'
import { type Command, command } from '../command.ts'
import { devicePath, listDevices } from '../device-paths.ts'
import { viewOf, withVault } from '../home-access.ts'
import { styled, type Terminal } from '../terminal.ts'
import { vaultPath } from '../vault-path.ts'
import { timeText } from '../wording.ts'
import { at } from './shared-options.ts'

const SIZE_COLUMN = 12

export const ls: Command = command(
  {
    name: 'ls',
    summary: 'List a directory',
    details: '/dev, /proc and /mnt/mcp are those of the daemon, unless a vault is named.',
    scope: 'vault',
    options: { long: { summary: 'With size and time of each', short: 'l' }, at },
    arguments: {
      path: { summary: 'What to list; the root when absent', isOptional: true, offers: 'path' },
    },
    examples: ['coppice ls', 'coppice ls /src -l', 'coppice ls /src --at before --json', 'coppice ls /dev'],
  },
  (call) => {
    const device = devicePath(call, call.given('path'))
    if (device !== undefined) return listDevices(call, device)
    return withVault(call, async ({ vault, ctx }) => {
      const { output, terminal } = call
      const fs = viewOf(call, vault)
      const path = vaultPath(call.given('path') ?? '/')
      const isListed = await isDirectory(fs, path, ctx)
      const entries = isListed
        ? fs.readdir(path, ctx)
        : [{ name: path, type: (await fs.stat(path, ctx)).type }]
      const place = (name: string) => (isListed ? child(path, name) : path)
      if (!call.has('long') && !call.isJson) {
        await output.list(entries, (entry) => nameText(terminal, entry))
        return
      }
      const details = async function* () {
        for await (const entry of entries) yield { ...entry, ...(await fs.stat(place(entry.name), ctx)) }
      }
      await output.list(details(), (entry) => longText(terminal, entry))
    })
  },
)

/** Whether it has entries of its own, or is a link to what has. */
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

function nameText(terminal: Terminal, { name, type }: DirEntry): string {
  if (type === 'directory') return `${styled(terminal, 'blue', shown(name))}/`
  return type === 'symlink' ? `${styled(terminal, 'cyan', shown(name))}@` : shown(name)
}

function longText(terminal: Terminal, entry: DirEntry & Stat): string {
  const mode = entry.mode === null ? '----' : entry.mode.toString(8).padStart(4, '0')
  const size = String(entry.size).padStart(SIZE_COLUMN)
  return `${mode} ${size} ${timeText(entry.mtime)} ${nameText(terminal, entry)}`
}
