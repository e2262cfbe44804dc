/** One thing a configuration says that cannot be taken. Lines count from 1. */
export interface ConfigProblem {
  readonly line: number
  readonly message: string
}

/** Something in a `config.toml` that cannot be taken: each problem with the file, the line, and what is known there. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly file: string
  readonly problems: readonly ConfigProblem[]

  constructor(file: string, problems: readonly ConfigProblem[]) {
    const sorted = [...problems].sort((one, other) => one.line - other.line)
    super(sorted.map(({ line, message }) => `${file}:${line}: ${message}`).join('\n'))
    this.file = file
    this.problems = sorted
  }
}
