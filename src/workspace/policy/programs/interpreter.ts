import { classifyStream, RUNS_CODE, toCode } from './fed-code.ts'
import { getValues, parseArguments, toOptionSet } from './options.ts'
import { createEffect, isStream, type ProgramClassifier, READS } from './program.ts'

/** Options of an interpreter, by their kind. */
interface Language {
  /** Options whose value is code. */
  readonly code: string
  /** Options that take another value. */
  readonly values: string
  /** Options that, given alone, print information about the interpreter. */
  readonly infoOptions: string
}

/** Creates an interpreter of another language: its code is scanned for plain hints. */
export function createInterpreter({ code, values, infoOptions }: Language): ProgramClassifier {
  const takesValue = toOptionSet(`${code} ${values}`)
  const infoSet = toOptionSet(infoOptions)
  return ({ args, stdin }) => {
    const sorted = parseArguments(args, takesValue)
    const texts = getValues(sorted, code)
    if (texts.length > 0) {
      const runs = [...texts, ...getValues(sorted, '-M -r --import')].map(toCode)
      return { ...createEffect('mutating', RUNS_CODE), runs, paths: excludeTexts(args, texts) }
    }
    if (args.length === 1 && infoSet.has(args[0] ?? '')) return READS
    const [script = '-'] = sorted.operands
    if (isStream(script)) return classifyStream(script, stdin, toCode)
    return createEffect('mutating', RUNS_CODE)
  }
}

/** Returns the arguments without the code in them. */
function excludeTexts(args: readonly string[], texts: readonly string[]): string[] {
  return args.filter((arg) => !texts.some((text) => arg.endsWith(text)))
}
