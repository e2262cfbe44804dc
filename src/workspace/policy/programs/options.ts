/** Arguments parsed as most programs read them. */
export interface Arguments {
  readonly operands: readonly string[]
  /** Values of each option, as it was written: `-o`, `--output`. */
  readonly options: ReadonlyMap<string, readonly string[]>
  /** Everything from the first operand on, options included. */
  readonly rest: readonly string[]
}

/** Names of options that take a value: `-o --output`. A letter such as `-i?` only takes one that is attached. */
export type OptionSet = ReadonlySet<string>

export function toOptionSet(names: string): OptionSet {
  return new Set(names.split(' '))
}

const NONE: OptionSet = new Set()

/** Parses arguments: `--name=value`, `--name value`, `-n value`, `-nvalue`, `-abc`, `--`. */
export function parseArguments(args: readonly string[], takesValue: OptionSet = NONE): Arguments {
  const [operands, options] = [[] as string[], new Map<string, string[]>()]
  let first = args.length
  const add = (name: string, value?: string) => {
    const values = options.get(name)
    if (values === undefined) options.set(name, value === undefined ? [] : [value])
    else if (value !== undefined) values.push(value)
  }
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? ''
    if (arg === '--') {
      if (operands.length === 0) first = index + 1
      operands.push(...args.slice(index + 1))
      break
    }
    if (!arg.startsWith('-') || arg === '-') {
      if (operands.length === 0) first = index
      operands.push(arg)
    } else if (takesValue.has(arg) || isAbbreviated(arg, takesValue)) add(arg, args[++index])
    else if (arg.startsWith('--')) addLongOption(arg, add)
    else index += addLetters(arg, args[index + 1], takesValue, add)
  }
  return { operands, options, rest: args.slice(first) }
}

/** True for the first letters of a long option, which most programs accept for all of it. */
function isAbbreviated(arg: string, takesValue: OptionSet): boolean {
  if (arg.length < 5 || !arg.startsWith('--') || arg.includes('=')) return false
  for (const name of takesValue) if (name.startsWith(arg)) return true
  return false
}

type Add = (name: string, value?: string) => void

function addLongOption(arg: string, add: Add): void {
  const equals = arg.indexOf('=')
  if (equals === -1) add(arg)
  else add(arg.slice(0, equals), arg.slice(equals + 1))
}

/**
 * Adds `-abc`; the first letter with a value takes the rest, or the next argument. Returns 1 if it took that, 0
 * otherwise.
 */
function addLetters(arg: string, next: string | undefined, takesValue: OptionSet, add: Add): number {
  // Some programs write long options with one dash.
  add(arg)
  for (let index = 1; index < arg.length; index++) {
    const name = `-${arg[index]}`
    const attachedValue = arg.slice(index + 1)
    if (takesValue.has(`${name}?`)) {
      add(name, attachedValue === '' ? undefined : attachedValue)
      return 0
    }
    if (!takesValue.has(name)) {
      add(name)
      continue
    }
    add(name, attachedValue === '' ? next : attachedValue)
    return attachedValue === '' ? 1 : 0
  }
  return 0
}

/** Cache of split name lists: they are written at their use, and needed at every call. */
const lists = new Map<string, readonly string[]>()

function splitNames(text: string): readonly string[] {
  let names = lists.get(text)
  if (names === undefined) {
    names = text.split(' ')
    lists.set(text, names)
  }
  return names
}

/** True if any of these options was given; a long one may be abbreviated, as most programs allow. */
export function hasOption({ options }: Arguments, names: string): boolean {
  if (options.size === 0) return false
  const list = splitNames(names)
  for (const name of list) if (options.has(name)) return true
  for (const given of options.keys()) {
    if (given.startsWith('--') && list.some((name) => abbreviates(given, name))) return true
  }
  return false
}

/** Returns all values of some options. */
export function getValues({ options }: Arguments, names: string): string[] {
  if (options.size === 0) return []
  return [...options].flatMap(([given, values]) =>
    splitNames(names).some((name) => abbreviates(given, name)) ? values : [],
  )
}

/** True for `--outp` and `--output`. */
function abbreviates(given: string, name: string): boolean {
  return given === name || (given.length > 2 && given.startsWith('--') && name.startsWith(given))
}
