/** Result of an edit: the new text and the number of replacements, or an error in deepagents' words. */
export type ReplacementResult =
  | { readonly text: string; readonly occurrences: number }
  | { readonly error: string }

/** Replaces a text that occurs once, or all its occurrences. In an empty text, `''` matches the whole. */
export function replaceText(text: string, old: string, replacement: string, all: boolean): ReplacementResult {
  if (old === '') {
    if (text === '') return { text: replacement, occurrences: 0 }
    return { error: 'Error: oldString cannot be empty when file has content' }
  }
  const parts = text.split(old)
  const occurrences = parts.length - 1
  if (occurrences === 0) return { error: `Error: String not found in file: '${old}'` }
  if (occurrences > 1 && !all) {
    const times = `has multiple occurrences (appears ${occurrences} times) in file`
    const advice =
      'Use replace_all=True to replace all instances, or provide a more specific string with surrounding context.'
    return { error: `Error: String '${old}' ${times}. ${advice}` }
  }
  return { text: parts.join(replacement), occurrences }
}
