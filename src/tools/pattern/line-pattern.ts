import { RE2JS, RE2JSException } from 're2js'
import { type LinePattern, VfsError } from '../../vfs/index.ts'

/** Longer patterns are a mistake, or an attack. */
const MAX_PATTERN_CHARACTERS = 10_000
/** Matching takes time in proportion to this and the text; patterns of a person are far below. */
const MAX_PROGRAM_SIZE = 20_000

/**
 * A pattern a model wrote, ready for lines: a plain text as it stands, anything else on an engine whose time is linear
 * in the text, so that no pattern hangs us. EINVAL for a bad pattern, saying what is not supported.
 */
export function linePattern(source: string): string | LinePattern {
  if (source.length > MAX_PATTERN_CHARACTERS) {
    throw refused(`${source.slice(0, 50)}…`, `it is longer than ${MAX_PATTERN_CHARACTERS} characters`)
  }
  if (!/[\\^$.*+?()[\]{}|]/.test(source)) return source
  const compiled = compile(source)
  const [flags = ''] = source.match(/^\(\?i\)/) ?? []
  return {
    source: source.slice(flags.length),
    // Its folding is Unicode's, and so are its characters.
    flags: flags === '' ? 'u' : 'iu',
    test: (line) => compiled.test(line),
  }
}

function compile(source: string): RE2JS {
  try {
    const compiled = RE2JS.compile(source)
    if (compiled.programSize() <= MAX_PROGRAM_SIZE) return compiled
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    throw refused(source, unsupported(source) ?? error.message.replace(/^error parsing regexp: /, ''))
  }
  throw refused(source, 'it is too large; use fewer or smaller repetitions')
}

/** What a pattern of other engines has and this one cannot: it would cost more than linear time. */
function unsupported(source: string): string | undefined {
  if (/\(\?<?[=!]/.test(source))
    return 'lookahead and lookbehind are not supported; search for more, then filter'
  if (/\\[1-9]|\\k</.test(source)) return 'backreferences are not supported; write what they repeat'
  if (/\(\?>|[*+?}]\+/.test(source)) return 'atomic groups and possessive quantifiers are not supported'
  return undefined
}

function refused(pattern: string, detail: string): VfsError {
  return new VfsError('EINVAL', 'pattern', {
    op: 'file_grep',
    detail: `bad regular expression '${pattern}': ${detail}`,
  })
}
