import { shown } from '../../server/text/index.ts'
import { basename, type FileType, matchesGlob, type WalkEntry } from '../../vfs/index.ts'
import { type Command, command } from '../command.ts'
import { viewOf, withVault } from '../home-access.ts'
import { vaultPath } from '../vault-path.ts'
import { at } from './shared-options.ts'

const types: Readonly<Record<string, FileType>> = { f: 'file', d: 'directory', l: 'symlink' }

export const find: Command = command(
  {
    name: 'find',
    summary: 'Find files by name and type',
    scope: 'vault',
    options: {
      name: {
        summary: 'Names that match this glob; with a slash in it, whole paths',
        short: 'n',
        value: 'glob',
      },
      type: {
        summary: 'Files, directories or links',
        short: 't',
        value: 'type',
        choices: Object.keys(types),
      },
      at,
    },
    arguments: {
      path: { summary: 'Where to look; the root when absent', isOptional: true, offers: 'path' },
    },
    examples: [
      "coppice find --name '*.test.ts'",
      "coppice find /src --name '/src/**/index.ts'",
      'coppice find --type d',
    ],
  },
  (call) =>
    withVault(call, async ({ vault, ctx }) => {
      const fs = viewOf(call, vault)
      const root = vaultPath(call.given('path') ?? '/')
      await fs.stat(root, ctx)
      const wanted = matcher(call.text('name'), call.text('type'))
      const found = async function* () {
        for await (const entry of fs.walk(root, { includeDirs: true }, ctx)) if (wanted(entry)) yield entry
      }
      await call.output.list(
        found(),
        ({ path }) => shown(path),
        ({ path, stat: { type, size, mtime } }) => ({ path, type, size, mtime }),
      )
    }),
)

function matcher(name: string | undefined, letter: string | undefined): (entry: WalkEntry) => boolean {
  const type = letter === undefined ? undefined : types[letter]
  const isPath = name?.includes('/') === true
  return ({ path, stat }) => {
    if (type !== undefined && stat.type !== type) return false
    if (name === undefined) return true
    return isPath ? matchesGlob(path, vaultPath(name)) : matchesGlob(`/${basename(path)}`, `/${name}`)
  }
}
