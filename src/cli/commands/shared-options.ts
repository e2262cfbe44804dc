import { engines } from '../../server/config/index.ts'
import type { Option } from '../definition.ts'

/** Options that mean the same wherever they appear. */
export const at: Option = {
  summary: 'As it was at this checkpoint',
  value: 'checkpoint',
  offers: 'checkpoint',
}

export const yes: Option = { summary: 'Do not ask', short: 'y' }

export const engine: Option = {
  summary: 'What a new home keeps its bytes in',
  value: 'name',
  choices: engines,
}

export const context: Option = {
  summary: 'Who is at work ($COPPICE_CONTEXT, else your user name)',
  value: 'name',
  offers: 'context',
}

export const fork: Option = {
  summary: 'Work in a fork of the vault by this name, made if there is none',
  value: 'name',
  offers: 'vault',
}
