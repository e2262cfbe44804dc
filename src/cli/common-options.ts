import type { Option, Scope } from './definition.ts'

/** Options that every command of a scope has. */
export type CommonOption = 'json' | 'home' | 'vault' | 'trace' | 'help'

const json: Option = { summary: 'Print JSON' }
const help: Option = { summary: 'Show this help', short: 'h' }
const home: Option = {
  summary: 'The home to work on ($COPPICE_HOME, else ~/.coppice)',
  value: 'directory',
  offers: 'file',
}
const vault: Option = {
  summary: 'The vault to work on (the one chosen with vault use, else the only one)',
  value: 'name',
  offers: 'vault',
}
export const trace: Option = {
  summary: 'Note this in the journal beside each change ($COPPICE_TRACE)',
  value: 'id',
}

export const commonOptions: Readonly<Record<Scope, Readonly<Record<string, Option>>>> = {
  none: { json, help },
  home: { home, json, help },
  vault: { vault, home, json, help },
  change: { vault, trace, home, json, help },
}
