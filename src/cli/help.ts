import { optionsOf } from './arguments.ts'
import type { Family } from './command.ts'
import type { Argument, Definition, Option } from './definition.ts'
import { table } from './table.ts'

/** What `coppice <command> --help` prints. */
export function helpOf(definition: Definition): string {
  const { summary, details, examples } = definition
  const args = Object.entries(definition.arguments ?? {})
  const sections = [
    `Usage: ${usageOf(definition)}`,
    details === undefined ? `${summary}.` : `${summary}.\n${details}`,
    args.length === 0 ? '' : section('Arguments', args.map(argumentRow)),
    section('Options', Object.entries(optionsOf(definition)).map(optionRow)),
    `Examples:\n${examples.map((example) => `  ${example}`).join('\n')}`,
  ]
  return sections.filter((text) => text !== '').join('\n\n')
}

/** What `coppice <family> --help` prints. */
export function helpOfFamily({ name, summary, commands }: Family): string {
  const rows = commands.map(({ definition }) => [definition.name, definition.summary])
  const examples = commands.flatMap(({ definition }) => definition.examples.slice(0, 1))
  return [
    `Usage: coppice ${name} <command> [options]`,
    `${summary}.`,
    section('Commands', rows),
    `Examples:\n${examples.map((example) => `  ${example}`).join('\n')}`,
    `See coppice ${name} <command> --help`,
  ].join('\n\n')
}

export function section(title: string, rows: readonly (readonly string[])[]): string {
  return `${title}:\n${table(rows)
    .map((line) => `  ${line}`)
    .join('\n')}`
}

function usageOf(definition: Definition): string {
  const words = Object.entries(definition.arguments ?? {}).map(argumentWord)
  return ['coppice', definition.name, ...words, '[options]'].join(' ')
}

function argumentWord([name, { isOptional = false, isList = false }]: [string, Argument]): string {
  const word = isList ? `${name}…` : name
  return isOptional ? `[${word}]` : `<${word}>`
}

function argumentRow(entry: [string, Argument]): string[] {
  const [name, { summary, choices }] = entry
  return [name, withChoices(summary, choices)]
}

function optionRow([name, { short, value, summary, choices }]: [string, Option]): string[] {
  const letter = short === undefined ? '    ' : `-${short}, `
  const placeholder = value === undefined ? '' : ` <${value}>`
  return [`${letter}--${name}${placeholder}`, withChoices(summary, choices)]
}

function withChoices(summary: string, choices: readonly string[] | undefined): string {
  return choices === undefined ? summary : `${summary}: ${choices.join(', ')}`
}
