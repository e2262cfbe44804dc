import { RE2JS, RE2JSException } from 're2js'
import { type LinePattern, VfsError } from '../../vfs/index.ts'
import { truncateText } from '../text/character-cut.ts'
import { TextSearch } from '../text/text-search.ts'
import { BoundedPattern } from './bounded-pattern.ts'

/** Limit of a pattern: a Unicode class takes long to compile. */
const MAX_PATTERN_CHARACTERS = 2000
/** Limit of the compiled program: matching takes time in proportion to this and the text. */
const MAX_PROGRAM_SIZE = 1000
/** Limit of a plain text: the native search may take this times the line. */
const MAX_PLAIN_CHARACTERS = 64
/** Limit of a pattern repeated in a message. */
const MAX_SHOWN_CHARACTERS = 200

/**
 * Compiles a model's pattern for lines: a plain text as it is, anything else on an engine with time linear
 * in the text, so that no pattern hangs. EINVAL for a bad pattern, naming the unsupported feature.
 */
export function compileLinePattern(source: string): string | LinePattern {
  if (source.length > MAX_PATTERN_CHARACTERS) {
    throw createPatternError(source, `it is longer than ${MAX_PATTERN_CHARACTERS} characters`)
  }
  if (!/[\\^$.*+?()[\]{}|]/.test(source)) return compilePlainPattern(source)
  const [flags = ''] = source.match(/^\(\?i\)/) ?? []
  // RE2 folds case and counts characters as Unicode does, which the flag u says.
  return new BoundedPattern(compileRe2(source), source.slice(flags.length), flags === '' ? 'u' : 'iu')
}

function compilePlainPattern(source: string): string | LinePattern {
  if (source.length <= MAX_PLAIN_CHARACTERS) return source
  const search = new TextSearch(source)
  return { source, flags: 'u', test: (line) => search.isFoundIn(line) }
}

function compileRe2(source: string): RE2JS {
  try {
    const compiled = RE2JS.compile(source)
    if (compiled.programSize() <= MAX_PROGRAM_SIZE) return compiled
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    const problem = findUnsupportedFeature(source) ?? error.message.replace(/^error parsing regexp: /, '')
    throw createPatternError(source, truncateText(problem, 2 * MAX_SHOWN_CHARACTERS))
  }
  throw createPatternError(source, 'it is too large; use fewer or smaller repetitions')
}

/** Finds a feature of other engines that would need more than linear time. */
function findUnsupportedFeature(source: string): string | undefined {
  if (/\(\?<?[=!]/.test(source))
    return 'lookahead and lookbehind are not supported; search for more, then filter'
  if (/\\[1-9]|\\k</.test(source)) return 'backreferences are not supported; write what they repeat'
  if (/\(\?>|[*+?}]\+/.test(source)) return 'atomic groups and possessive quantifiers are not supported'
  return undefined
}

function createPatternError(pattern: string, detail: string): VfsError {
  return new VfsError('EINVAL', 'pattern', {
    op: 'file_grep',
    detail: `bad regular expression '${truncateText(pattern, MAX_SHOWN_CHARACTERS)}': ${detail}`,
  })
}
