import type { DaemonStreams } from '../../daemon/client/index.ts'
import type { Output } from '../framework/output.ts'
import type { Terminal } from '../framework/terminal.ts'
import { escapeForTerminal } from './format-values.ts'
import { formatLogEvent } from './process-format.ts'

type LogEvent = DaemonStreams['logs']['event']

/** Writes the log of a process line by line, and the text of its model in between as it arrives. */
export class LogWriter {
  readonly #output: Output
  readonly #terminal: Terminal
  #isWithinLine = false

  constructor(output: Output, terminal: Terminal) {
    this.#output = output
    this.#terminal = terminal
  }

  async write(event: LogEvent): Promise<void> {
    if (this.#output.isJson) await this.#output.writeLine(JSON.stringify(event))
    else if ('is_partial' in event) await this.#writePart(event.text)
    else {
      await this.endLine()
      await this.#output.writeLine(formatLogEvent(event))
    }
    await this.#output.flush()
  }

  /** Ends a line that a text left open. */
  async endLine(): Promise<void> {
    if (this.#isWithinLine) await this.#output.writeLine('')
    this.#isWithinLine = false
  }

  async #writePart(text: string): Promise<void> {
    await this.#output.writeText(escapeForTerminal(this.#terminal, text))
    this.#isWithinLine = !text.endsWith('\n')
  }
}
