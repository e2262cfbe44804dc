import { isTemporaryName } from '../../../machine/index.ts'
import type { HostDirectory } from './host-directory.ts'
import { HostFile } from './host-file.ts'
import { IgnoreRules } from './ignore-rules.ts'
import type { ImportOptions } from './import-report.ts'

const MAX_RULES_BYTES = 1024 * 1024
const GITIGNORE = '.gitignore'
const GIT_DIRECTORY = '.git'

/** An entry of a directory of the machine. */
interface FilteredEntry {
  readonly name: string
  readonly relativePath: string
  readonly isDirectory: boolean
}

/** Decides which entries an import leaves out: temporary files, those of `exclude`, and those of `.gitignore` files. */
export class ImportFilter {
  readonly #excluded: IgnoreRules
  readonly #usesGitignore: boolean

  constructor({ exclude, gitignore = false }: ImportOptions) {
    this.#excluded = new IgnoreRules(exclude)
    this.#usesGitignore = gitignore
  }

  /** @param rules those of the entry's directory. */
  isIgnored({ name, relativePath, isDirectory }: FilteredEntry, rules: IgnoreRules): boolean {
    const path = isDirectory ? `${relativePath}/` : relativePath
    // Temporary files of killed writes are no content.
    if (isTemporaryName(name) || this.#excluded.ignores(path)) return true
    return this.#usesGitignore && (name === GIT_DIRECTORY || rules.ignores(path))
  }

  /** Returns the rules in a directory: those of its parent, with the ones of its `.gitignore`. */
  readRules(
    directory: HostDirectory,
    relativePath: string,
    above: IgnoreRules = new IgnoreRules(),
  ): IgnoreRules {
    if (!this.#usesGitignore) return above
    let file: HostFile
    try {
      file = new HostFile(directory.at(GITIGNORE))
    } catch {
      // Missing or unreadable.
      return above
    }
    try {
      return file.stats.size > MAX_RULES_BYTES ? above : above.within(relativePath, file.readAll().toString())
    } finally {
      file.close()
    }
  }
}
