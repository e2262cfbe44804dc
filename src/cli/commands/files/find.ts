import { escapeName } from '../../../text/index.ts'
import {
  basename,
  type CallContext,
  type FileSystem,
  type FileType,
  matchesGlob,
  type WalkEntry,
} from '../../../vfs/index.ts'
import { findDevicePath, nameType, withDeviceFiles } from '../../access/device-paths.ts'
import { getVaultView, withVault } from '../../access/home-access.ts'
import { parseVaultPath } from '../../access/parse-vault-path.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { at } from '../shared-options.ts'

const typeLetters: Readonly<Record<string, FileType>> = { f: 'file', d: 'directory', l: 'symlink' }

export const find: Command = defineCommand(
  {
    name: 'find',
    summary: 'Find files by name and type',
    details: 'Paths in /dev, /proc and /mnt/mcp belong to the daemon, unless --vault is given.',
    scope: 'vault',
    options: {
      name: {
        summary: 'Glob for the name, or for the whole path if it has a slash',
        short: 'n',
        value: 'glob',
      },
      type: {
        summary: 'Find only files (f), directories (d) or links (l)',
        short: 't',
        value: 'type',
        choices: Object.keys(typeLetters),
      },
      at,
    },
    arguments: {
      path: { summary: 'Directory to search (default: the root)', isOptional: true, offers: 'path' },
    },
    examples: [
      "coppice find --name '*.test.ts'",
      "coppice find /src --name '/src/**/index.ts'",
      'coppice find --type d',
    ],
  },
  (call) => {
    const device = findDevicePath(call, call.optionalArgument('path'))
    if (device !== undefined)
      return withDeviceFiles(call, (files, ctx) => printMatches(call, files, device, ctx))
    return withVault(call, async ({ vault, ctx }) => {
      const root = parseVaultPath(call.optionalArgument('path') ?? '/')
      await printMatches(call, getVaultView(call, vault), root, ctx)
    })
  },
)

/** Prints the paths below a directory that match the options. */
async function printMatches(
  call: CommandInvocation<'name' | 'type'>,
  fs: FileSystem,
  root: string,
  ctx: CallContext,
): Promise<void> {
  await fs.stat(root, ctx)
  const matches = createMatcher(call.option('name'), call.option('type'))
  const findEntries = async function* () {
    for await (const entry of fs.walk(root, { includeDirs: true }, ctx)) if (matches(entry)) yield entry
  }
  await call.output.writeList(
    findEntries(),
    ({ path }) => escapeName(path),
    ({ path, stat: { type, size, mtime } }) => ({ path, type: nameType(type), size, mtime }),
  )
}

function createMatcher(name: string | undefined, letter: string | undefined): (entry: WalkEntry) => boolean {
  const type = letter === undefined ? undefined : typeLetters[letter]
  const isPath = name?.includes('/') === true
  return ({ path, stat }) => {
    if (type !== undefined && stat.type !== type) return false
    if (name === undefined) return true
    return isPath ? matchesGlob(path, parseVaultPath(name)) : matchesGlob(`/${basename(path)}`, `/${name}`)
  }
}
