/**
 * Returns a function that passes text on as it arrives, unless it begins like JSON or a code block: an action is no
 * text for people.
 */
export function passProse(onText: ((text: string) => void) | undefined): (text: string) => void {
  let start = ''
  let isProse: boolean | undefined
  return (text) => {
    if (isProse === undefined) {
      start += text
      const first = start.trimStart().at(0)
      if (first === undefined) return
      isProse = !'{[`'.includes(first)
      if (isProse) onText?.(start)
    } else if (isProse) onText?.(text)
  }
}
