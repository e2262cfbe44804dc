import { engines } from '../../config/index.ts'
import type { CommandOption } from '../framework/command-definition.ts'

/** Options that several commands have, with the same meaning. This one: the state to read. */
export const at: CommandOption = {
  summary: 'Use the state at this checkpoint',
  value: 'checkpoint',
  offers: 'checkpoint',
}

export const yes: CommandOption = { summary: 'Do not ask', short: 'y' }

export const engine: CommandOption = {
  summary: 'Storage engine of a new home',
  value: 'name',
  choices: engines,
}

export const context: CommandOption = {
  summary: 'Context to act as ($COPPICE_CONTEXT, else your user name)',
  value: 'name',
  offers: 'context',
}

export const into: CommandOption = {
  summary: 'If several merges wait: the one into this vault, fork or directory',
  value: 'name',
}

export const fork: CommandOption = {
  summary: 'Work in this fork of the vault, created if missing',
  value: 'name',
  offers: 'fork',
}
