/** Some lines of a text, with facts about the whole. */
export interface TextWindow {
  readonly text: string
  /** Number of lines; a final newline begins no line. */
  readonly totalLines: number
  /** True if the text is only white space. */
  readonly isBlank: boolean
}

/** Reads at most `limit` lines from `offset`, counted from 0. Buffers only these, however long the file is. */
export async function readTextWindow(
  chunks: AsyncIterable<Uint8Array>,
  offset: number,
  limit: number,
): Promise<TextWindow> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const kept: string[] = []
  let [line, isBlank, atLineStart] = [0, true, true]
  const addText = (text: string) => {
    if (text === '') return
    isBlank &&= text.trim() === ''
    atLineStart = text.endsWith('\n')
    for (const [index, part] of text.split('\n').entries()) {
      if (index > 0) line++
      const isWithin = line >= offset && line < offset + limit
      if (isWithin) kept.push(index > 0 && line > offset ? `\n${part}` : part)
    }
  }
  for await (const chunk of chunks) addText(decoder.decode(chunk, { stream: true }))
  addText(decoder.decode())
  return { text: kept.join(''), totalLines: atLineStart ? line : line + 1, isBlank }
}
