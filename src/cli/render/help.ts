import type { CommandGroup } from '../framework/command.ts'
import type { CommandArgument, CommandDefinition, CommandOption } from '../framework/command-definition.ts'
import { listOptions } from '../framework/parse-input.ts'
import { formatTable } from './table.ts'

/** Formats `coppice <command> --help`. */
export function formatCommandHelp(definition: CommandDefinition): string {
  const { summary, details, examples } = definition
  const args = Object.entries(definition.arguments ?? {})
  const sections = [
    `${summary}.`,
    `Usage: ${formatUsage(definition)}`,
    details ?? '',
    args.length === 0 ? '' : formatSection('Arguments', args.map(toArgumentRow)),
    formatSection('Options', Object.entries(listOptions(definition)).map(toOptionRow)),
    `Examples:\n${examples.map((example) => `  ${example}`).join('\n')}`,
  ]
  return sections.filter((text) => text !== '').join('\n\n')
}

/** Formats `coppice <group> --help`. */
export function formatGroupHelp({ name, summary, commands }: CommandGroup): string {
  const rows = commands.map(({ definition }) => [definition.name, definition.summary])
  const examples = commands.flatMap(({ definition }) => definition.examples.slice(0, 1))
  return [
    `${summary}.`,
    `Usage: coppice ${name} <command> [options]`,
    formatSection('Commands', rows),
    `Examples:\n${examples.map((example) => `  ${example}`).join('\n')}`,
    `See coppice ${name} <command> --help`,
  ].join('\n\n')
}

export function formatSection(title: string, rows: readonly (readonly string[])[]): string {
  return `${title}:\n${formatTable(rows)
    .map((line) => `  ${line}`)
    .join('\n')}`
}

function formatUsage(definition: CommandDefinition): string {
  const words = Object.entries(definition.arguments ?? {}).map(formatArgument)
  return ['coppice', definition.name, ...words, '[options]'].join(' ')
}

function formatArgument([name, argument]: [string, CommandArgument]): string {
  const { isOptional = false, isList = false, isAfterDashes = false } = argument
  const word = `${isAfterDashes ? '-- ' : ''}${isList ? `${name}…` : name}`
  return isOptional ? `[${word}]` : `<${word}>`
}

function toArgumentRow(entry: [string, CommandArgument]): string[] {
  const [name, { summary, choices }] = entry
  return [name, appendChoices(summary, choices)]
}

function toOptionRow([name, { short, value, summary, choices }]: [string, CommandOption]): string[] {
  const letter = short === undefined ? '    ' : `-${short}, `
  const placeholder = value === undefined ? '' : ` <${value}>`
  return [`${letter}--${name}${placeholder}`, appendChoices(summary, choices)]
}

function appendChoices(summary: string, choices: readonly string[] | undefined): string {
  return choices === undefined ? summary : `${summary}: ${choices.join(', ')}`
}
