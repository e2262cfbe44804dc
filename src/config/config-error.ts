/** One invalid setting of a configuration. Lines count from 1. */
export interface ConfigProblem {
  readonly line: number
  readonly message: string
}

/** An invalid `config.toml`: each problem with the file, the line, and the allowed values. */
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
