import { setConfig } from '../../../config/index.ts'
import { assertUserVault, resolveVaultName, withHome } from '../../access/home-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
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
  (call) =>
    withHome(call, async (open) => {
      const { home, path } = open
      const name = assertUserVault(call.argument('name'))
      const source = call.optionalArgument('source') ?? (await resolveVaultName(call, open))
      const checkpoint = call.option('at')
      await home.fork(source, name, checkpoint === undefined ? {} : { at: checkpoint })
      if (call.has('use')) await setConfig(path, 'vault', name)
      const origin = checkpoint === undefined ? source : `${source} at ${checkpoint}`
      await call.output.writeValue({ name, source, at: checkpoint ?? null }, `${name} is a fork of ${origin}`)
    }),
)
