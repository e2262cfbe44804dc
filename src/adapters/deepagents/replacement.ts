/** What an edit came to: the new text and how often it was replaced, or why not, as deepagents says it. */
export type ReplacementResult =
  | { readonly text: string; readonly occurrences: number }
  | { readonly error: string }

/** Replaces a text in another; it must be there once, unless all are meant. In an empty text, nothing stands for all of it. */
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
