import { assertDirectories, ConfigFile, resolveConfigPaths } from '../../../config/index.ts'
import { resolveHomePath } from '../../access/home-access.ts'
import { type Command, type CommandGroup, defineCommand } from '../../framework/command.ts'
import { formatTable } from '../../render/table.ts'

const check: Command = defineCommand(
  {
    name: 'config check',
    summary: 'Check config.toml of the home',
    details: 'Prints each problem with its line and the allowed values; the exit code is then 1.',
    scope: 'home',
    examples: ['coppice config check', 'coppice config check --home ./agents --json'],
  },
  async (call) => {
    const source = await ConfigFile.read(await resolveHomePath(call))
    await assertDirectories(source)
    const count = flattenSettings(source.config).length
    const text = count === 0 ? `${source.file}: valid; nothing is set` : `${source.file}: valid`
    await call.output.writeValue({ file: source.file, settings: count, problems: [] }, text)
  },
)

const show: Command = defineCommand(
  {
    name: 'config show',
    summary: 'Show the settings of config.toml with absolute paths',
    scope: 'home',
    examples: ['coppice config show', 'coppice config show --json'],
  },
  async (call) => {
    const config = resolveConfigPaths(await ConfigFile.read(await resolveHomePath(call)))
    await call.output.writeValue(config, formatTable(flattenSettings(config)).join('\n'))
  },
)

export const config: CommandGroup = {
  name: 'config',
  summary: 'Check and show the configuration of the home',
  commands: [check, show],
}

/** Flattens settings into rows of key and value, with keys as the file writes them. */
function flattenSettings(values: object, prefix = ''): string[][] {
  return Object.entries(values).flatMap(([key, value]) => {
    const name = /^[\w-]+$/.test(key) ? key : JSON.stringify(key)
    const isTable = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isTable
      ? flattenSettings(value, `${prefix}${name}.`)
      : [[`${prefix}${name}`, JSON.stringify(value)]]
  })
}
