/** Arguments of a shell. */
interface ShellArguments {
  /** Letters of its options, also of those that start with a plus. */
  readonly letters: ReadonlySet<string>
  /** Files that it reads before everything else. */
  readonly files: readonly string[]
  /** Words after unknown options, which are either their values or the first operand. */
  readonly doubtful: readonly string[]
  readonly operands: readonly string[]
}

/** Long options of bash, which it also accepts with one dash, and of other shells. */
const LONG_FLAGS =
  /^--?(?:debug|debugger|dump-po-strings|dump-strings|help|interactive|login|no-rcs?|noediting|noprofile|norc|posix|pretty-print|restricted|verbose|version)$/
const LONG_VALUES = /^--?(?:rcfile|init-file)$/
/** Letters whose value is the next word, however many letters follow: `-oc pipefail line`. */
const LETTER_VALUES = /[oO]/
/** Name of a setting of the shell, the usual value of these letters. */
const SETTING = /^\w+$/

/** Parses the words of a shell up to its first operand. */
export function parseShellArguments(args: readonly string[]): ShellArguments {
  const [letters, files, doubtful] = [new Set<string>(), [] as string[], [] as string[]]
  let index = 0
  for (; index < args.length; index++) {
    const word = args[index] ?? ''
    if (word === '--') return { letters, files, doubtful, operands: args.slice(index + 1) }
    if (!/^[-+]./.test(word)) break
    if (LONG_FLAGS.test(word)) continue
    if (LONG_VALUES.test(word)) files.push(args[++index] ?? '')
    else if (word.startsWith('--')) {
      const file = word.match(/^--(?:rcfile|init-file)=(.*)$/s)?.[1]
      if (file !== undefined) files.push(file)
      // Any other option may take a value.
      else if (!word.includes('=') && isOperand(args[index + 1])) doubtful.push(args[++index] ?? '')
    } else {
      for (const letter of word.slice(1)) {
        letters.add(letter)
        if (!LETTER_VALUES.test(letter) || !isOperand(args[index + 1])) continue
        const value = args[++index] ?? ''
        // In other shells the letter may take no value, and this is the line.
        if (!SETTING.test(value)) doubtful.push(value)
      }
    }
  }
  return { letters, files, doubtful, operands: args.slice(index) }
}

function isOperand(word: string | undefined): boolean {
  return word !== undefined && !/^[-+]./.test(word)
}
