import type { OptionSet } from './options.ts'
import { createUnseenFindings, type ProgramClassifier } from './program.ts'

/** Options that take no value in any program. */
const FLAGS = new Set(
  '-s --silent -q --quiet -r --recursive -v --verbose -g --global -y --yes -i -u --if-present --offline --locked --frozen --no-color --json --debug --no-cache-dir --isolated'.split(
    ' ',
  ),
)

/** Limit on readings, above the number of unknown options that people write. */
const MAX_READINGS = 8

/**
 * Wraps a program whose verb may follow unknown options: each may take the next word as its
 * value, as in `npm --loglevel silent install`. The effects of all readings count.
 */
export function classifyEachReading(program: ProgramClassifier, takesValue: OptionSet): ProgramClassifier {
  return (call) => {
    const all = listReadings(call.args, takesValue)
    if (all.length > MAX_READINGS) return { findings: createUnseenFindings(`a command of ${call.program}`) }
    const [effect, ...others] = all.map((args) => program({ ...call, args }))
    if (effect === undefined || others.length === 0) return effect ?? program(call)
    return {
      findings: [effect, ...others].flatMap(({ findings }) => findings),
      runs: [effect, ...others].flatMap(({ runs = [] }) => runs),
      paths: call.args,
    }
  }
}

function listReadings(args: readonly string[], takesValue: OptionSet): readonly (readonly string[])[] {
  const found = [args]
  let rest = args
  for (let index = 0; index < rest.length && found.length <= MAX_READINGS; index++) {
    const word = rest[index] ?? ''
    if (word.startsWith('-')) {
      if (takesValue.has(word)) index++
      continue
    }
    const before = rest[index - 1]
    if (!before?.startsWith('-') || before.includes('=') || FLAGS.has(before)) break
    rest = [...rest.slice(0, index - 1), ...rest.slice(index + 1)]
    found.push(rest)
    index -= 2
  }
  return found
}
