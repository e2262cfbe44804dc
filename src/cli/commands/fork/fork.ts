import { setConfig } from '../../../config/index.ts'
import { assertUserVault, resolveVaultName, withHome } from '../../access/home-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { at } from '../shared-options.ts'

export const fork: Command = defineCommand(
  {
    name: 'fork',
    summary: 'Fork a vault in constant time',
    scope: 'home',
    options: { at, use: { summary: 'Make the fork the current vault' } },
    arguments: {
      source: { summary: 'The vault (default: the current one)', isOptional: true, offers: 'vault' },
      name: { summary: 'The name of the fork' },
    },
    examples: [
      'coppice fork base task-1',
      'coppice fork task-2 --use',
      'coppice fork base task-3 --at before',
    ],
  },
  (call) => {
    const name = assertUserVault(call.argument('name'))
    const named = call.optionalArgument('source')
    if (named === undefined) assertNoCommand(name)
    return withHome(call, async (open) => {
      const { home, path } = open
      const source = named ?? (await resolveVaultName(call, open))
      const checkpoint = call.option('at')
      await home.fork(source, name, checkpoint === undefined ? {} : { at: checkpoint })
      if (call.has('use')) await setConfig(path, 'vault', name)
      const origin = checkpoint === undefined ? source : `${source} at ${checkpoint}`
      await call.output.writeValue({ name, source, at: checkpoint ?? null }, `${name} is a fork of ${origin}`)
    })
  },
)

/** Throws UsageError for a word that is a command of other groups, and hardly the name of a fork. */
function assertNoCommand(word: string): void {
  const isDelete = /^(?:delete|remove|rm|drop)$/.test(word)
  if (!isDelete && !/^(?:list|ls|show)$/.test(word)) return
  const meant = isDelete ? 'coppice drop --help' : 'coppice forks, or coppice vault list'
  throw new UsageError(
    `a fork can be named '${word}' only with its source: coppice fork <source> ${word}; see ${meant}`,
  )
}
