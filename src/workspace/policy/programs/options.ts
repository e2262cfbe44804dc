/** Arguments sorted out as most programs read them. */
export interface Arguments {
  readonly operands: readonly string[]
  /** Each option with its values, as it was written: `-o`, `--output`. */
  readonly options: ReadonlyMap<string, readonly string[]>
  /** Everything from the first operand on, options included. */
  readonly rest: readonly string[]
}

/** Names of options that take a value: `-o --output`. */
export type Valued = ReadonlySet<string>

export function valued(names: string): Valued {
  return new Set(names.split(' '))
}

const NONE: Valued = new Set()

/** Sorts arguments out: `--name=value`, `--name value`, `-n value`, `-nvalue`, `-abc`, `--`. */
export function sortOut(args: readonly string[], takesValue: Valued = NONE): Arguments {
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
    } else if (takesValue.has(arg) || isCutShort(arg, takesValue)) add(arg, args[++index])
    else if (arg.startsWith('--')) longOption(arg, add)
    else index += letters(arg, args[index + 1], takesValue, add)
  }
  return { operands, options, rest: args.slice(first) }
}

/** Most programs take the first letters of a long option for all of it. */
function isCutShort(arg: string, takesValue: Valued): boolean {
  if (arg.length < 5 || !arg.startsWith('--') || arg.includes('=')) return false
  for (const name of takesValue) if (name.startsWith(arg)) return true
  return false
}

type Add = (name: string, value?: string) => void

function longOption(arg: string, add: Add): void {
  const at = arg.indexOf('=')
  if (at === -1) add(arg)
  else add(arg.slice(0, at), arg.slice(at + 1))
}

/** `-abc`; the first letter that takes a value takes the rest, or the next argument. Returns how many of those it took. */
function letters(arg: string, next: string | undefined, takesValue: Valued, add: Add): number {
  // Some programs write long options with one dash.
  add(arg)
  for (let at = 1; at < arg.length; at++) {
    const name = `-${arg[at]}`
    if (!takesValue.has(name)) {
      add(name)
      continue
    }
    const glued = arg.slice(at + 1)
    add(name, glued === '' ? next : glued)
    return glued === '' ? 1 : 0
  }
  return 0
}

/** Lists of names, split once: they are written where they are used, and asked for at every call. */
const lists = new Map<string, readonly string[]>()

function namesIn(text: string): readonly string[] {
  let names = lists.get(text)
  if (names === undefined) {
    names = text.split(' ')
    lists.set(text, names)
  }
  return names
}

/** Whether any of some options was given; a long one may be cut short, as most programs let it. */
export function hasOption({ options }: Arguments, names: string): boolean {
  if (options.size === 0) return false
  const list = namesIn(names)
  for (const name of list) if (options.has(name)) return true
  for (const given of options.keys()) {
    if (given.startsWith('--') && list.some((name) => means(given, name))) return true
  }
  return false
}

/** All values of some options. */
export function valuesOf({ options }: Arguments, names: string): string[] {
  if (options.size === 0) return []
  return [...options].flatMap(([given, values]) =>
    namesIn(names).some((name) => means(given, name)) ? values : [],
  )
}

/** `--outp` means `--output`. */
function means(given: string, name: string): boolean {
  return given === name || (given.length > 2 && given.startsWith('--') && name.startsWith(given))
}
