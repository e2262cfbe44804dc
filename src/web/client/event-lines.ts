/** One event of a stream as the server sent it. */
export interface StreamEvent {
  /** The position to resume from; undefined where the event has none. */
  readonly id: string | undefined
  readonly name: string
  readonly data: string
}

/** Parses server-sent events from text that arrives in pieces of any length. */
export class EventLines {
  #rest = ''
  #id: string | undefined
  #name = 'message'
  #data: string[] = []

  /** Takes the next text and returns the events that are complete with it. */
  push(text: string): StreamEvent[] {
    const lines = (this.#rest + text).split(/\r?\n/)
    this.#rest = lines.pop() ?? ''
    return lines.flatMap((line) => this.#takeLine(line) ?? [])
  }

  #takeLine(line: string): StreamEvent | undefined {
    if (line === '') return this.#endEvent()
    // With `s`: a line separator of Unicode may be part of a text, and does not end a line here.
    const [, field = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? []
    if (field === 'id') this.#id = value
    else if (field === 'event') this.#name = value
    else if (field === 'data') this.#data.push(value)
    return undefined
  }

  #endEvent(): StreamEvent | undefined {
    const event = { id: this.#id, name: this.#name, data: this.#data.join('\n') }
    const isEmpty = this.#data.length === 0
    this.#id = undefined
    this.#name = 'message'
    this.#data = []
    return isEmpty ? undefined : event
  }
}
