import type { CommandOption, CommandScope } from './command-definition.ts'

/** Options that every command of a scope has. */
export type CommonOption = 'json' | 'home' | 'vault' | 'trace' | 'help'

const json: CommandOption = { summary: 'Print JSON' }
const help: CommandOption = { summary: 'Show this help', short: 'h' }
const home: CommandOption = {
  summary: 'The home to work on: a directory or a postgres:// URL ($COPPICE_HOME, else ~/.coppice)',
  value: 'directory',
  offers: 'file',
}
const vault: CommandOption = {
  summary: 'The vault to work on (the one chosen with vault use, else the only one)',
  value: 'name',
  offers: 'vault',
}
export const trace: CommandOption = {
  summary: 'Record this text with each change ($COPPICE_TRACE)',
  value: 'id',
}

export const commonOptions: Readonly<Record<CommandScope, Readonly<Record<string, CommandOption>>>> = {
  none: { json, help },
  home: { home, json, help },
  vault: { vault, home, json, help },
  change: { vault, trace, home, json, help },
}
