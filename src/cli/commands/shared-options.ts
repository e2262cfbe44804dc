import type { Option } from '../command.ts'
import { engines } from '../config.ts'

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
