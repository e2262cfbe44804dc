import { withZones } from '../../access/namespace-access.ts'
import { type Command, type CommandGroup, defineCommand } from '../../framework/command.ts'

const create: Command = defineCommand(
  {
    name: 'context create',
    summary: 'Create a context, the identity of an agent',
    details: 'It gets /home/<name> for its own files; what it writes is recorded under its name.',
    scope: 'home',
    arguments: { name: { summary: 'Letters, digits, - and _; not "system"' } },
    examples: ['coppice context create planner', 'coppice context create reviewer --home ./agents'],
  },
  (call) =>
    withZones(
      call,
      async (zones) => {
        const name = call.argument('name')
        const created = await zones.createContext(name)
        const text = created
          ? `made context ${name}; its files are in /home/${name}`
          : `there is a context ${name} already`
        await call.output.writeValue({ name, created, home: `/home/${name}` }, text)
      },
      { create: true },
    ),
)

const list: Command = defineCommand(
  {
    name: 'context list',
    summary: 'List the contexts',
    scope: 'home',
    examples: ['coppice context list', 'coppice context list --json'],
  },
  (call) =>
    withZones(call, async (zones) => {
      const names = await zones.contexts()
      await call.output.writeList(
        names,
        (name) => name,
        (name) => ({ name, home: `/home/${name}` }),
      )
    }),
)

export const context: CommandGroup = {
  name: 'context',
  summary: 'Create and list contexts, the identities of agents',
  commands: [create, list],
}
