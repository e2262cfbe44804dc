/** Size of a terminal in characters. */
export interface TerminalSize {
  readonly columns: number
  readonly rows: number
}

/** The terminal of a person, to which the pseudo-terminal of a command is connected. */
export interface CommandTerminal {
  /** Descriptor of its input. */
  readonly descriptor: number
  size(): TerminalSize
  /** Passes each key on as it is typed, or gives the keys back to the terminal's own line editing. */
  setRaw(isRaw: boolean): void
  /** Calls back with what is typed, until the returned function is called. */
  onInput(take: (chunk: Uint8Array) => void): () => void
  /** Calls back when the size changes, until the returned function is called. */
  onResize(notify: () => void): () => void
  /** Calls back when the terminal is closed, until the returned function is called. */
  onClose(notify: () => void): () => void
  /** Writes output. A returned promise is pending while the terminal is behind. */
  write(chunk: Uint8Array | string): Promise<void> | undefined
  /** Shows a line of this program, if the command leaves the screen to be written line by line. */
  announce(line: string): void
  /** Calls back with announced lines, until the returned function is called. */
  onAnnouncement(show: (line: string) => void): () => void
  /** Stops this program as ^Z does, and resolves once it runs again. */
  suspend(): Promise<void>
}
