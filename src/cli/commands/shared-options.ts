import { engines } from '../../config/index.ts'
import type { CommandOption } from '../framework/command-definition.ts'

/** Options that mean the same wherever they appear. */
export const at: CommandOption = {
  summary: 'As it was at this checkpoint',
  value: 'checkpoint',
  offers: 'checkpoint',
}

export const yes: CommandOption = { summary: 'Do not ask', short: 'y' }

export const engine: CommandOption = {
  summary: 'What a new home keeps its bytes in',
  value: 'name',
  choices: engines,
}

export const context: CommandOption = {
  summary: 'Who is at work ($COPPICE_CONTEXT, else your user name)',
  value: 'name',
  offers: 'context',
}

export const fork: CommandOption = {
  summary: 'Work in a fork of the vault by this name, made if there is none',
  value: 'name',
  offers: 'vault',
}
