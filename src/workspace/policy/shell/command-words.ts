import type { Assignment, Command, Word } from 'unbash'
import { UNKNOWN } from './unknown.ts'
import type { Variables } from './variables.ts'
import { expand, expandWhole } from './word.ts'

interface Setting {
  readonly name: string
  value: string
}

/** Simple command as the shell starts it. */
export interface CommandWords {
  /** Variables that it sets, for its program or by it, in order. */
  readonly settings: readonly Readonly<Setting>[]
  /** Program and its arguments. */
  readonly words: readonly string[]
}

/** Expands a command into words. The grammar ends a word before `<(`, a shell does not: `A=<(x) ls` runs `ls`. */
export function expandCommand({ prefix, name, args }: Command, variables: Variables): CommandWords {
  const settings: Setting[] = []
  const words: string[] = []
  let [end, setting]: [number, Setting?] = [-1]
  const add = (part: Assignment | Word) => {
    const texts = expandPart(part, variables)
    if (part.pos === end) {
      const attachedText = texts.shift() ?? ''
      if (setting !== undefined) setting.value += attachedText
      if (words.length > 0) words.push(`${words.pop()}${attachedText}`)
    } else setting = undefined
    end = part.end
    if (part.type === 'Assignment') {
      setting = { name: part.name, value: texts.join('') }
      settings.push(setting)
      // Before the program it is no argument.
      if (words.length > 0) words.push(`${part.name}=${setting.value}`)
    } else words.push(...texts)
  }
  for (const part of prefix) if (part.type === 'Assignment') add(part)
  if (name !== undefined) add(name)
  for (const part of args) add(part)
  return { settings, words }
}

function expandPart(part: Assignment | Word, variables: Variables): string[] {
  if (part.type === 'Word') return expand(part, variables)
  return [part.value.type === 'Word' ? expandWhole(part.value, variables) : UNKNOWN]
}
