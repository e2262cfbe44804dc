import { renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makePrivateDirectory, makePrivateFile, readFileIfPresent } from '../../../machine/index.ts'
import type { UndoSettings } from '../../../timeline/events/index.ts'

/** Settings with the configuration that they were parsed from. */
interface KeptSettings {
  readonly config: string
  readonly settings: UndoSettings
}

/**
 * Reads `[undo]` of the configuration of a home. The result is kept for the next hooks: to load the parser and the schema
 * takes longer than a hook. ConfigError if the file is invalid.
 */
export async function readUndoSettings(home: string): Promise<UndoSettings> {
  const file = join(home, 'config.toml')
  const config = readFileIfPresent(file) ?? ''
  if (!/\bundo\b/.test(config)) return {}
  const keptFile = join(home, 'timelines', 'settings.json')
  const kept = parseKept(readFileIfPresent(keptFile) ?? '')
  if (kept?.config === config) return kept.settings
  // Loaded only now: the agent waits for this program.
  const { parseUndoSettings } = await import('./record-changed-directory.ts')
  const settings = await parseUndoSettings(file, config)
  keepSettings(keptFile, { config, settings })
  return settings
}

function parseKept(text: string): KeptSettings | undefined {
  try {
    return JSON.parse(text)
  } catch {
    // Damaged, or none yet.
    return undefined
  }
}

/** Hooks of several directories may do so at once. */
function keepSettings(file: string, settings: KeptSettings): void {
  const draft = `${file}.${process.pid}`
  makePrivateDirectory(dirname(file))
  makePrivateFile(draft)
  writeFileSync(draft, JSON.stringify(settings))
  renameSync(draft, file)
}
