/**
 * The entry point of a part's process: loads the module named by the first argument, lets it measure itself once with
 * the settings of the second, and sends every measurement to the parent as soon as it is known.
 */
import type { PartModule, Settings } from './benchmark.ts'
import { TimingRecorder } from './recorder.ts'

const [moduleUrl, settingsJson] = process.argv.slice(2)
if (moduleUrl === undefined || settingsJson === undefined) {
  throw new Error('usage: child.ts <url of the module> <settings as JSON>')
}

// Without the parent nobody wants the result.
process.once('disconnect', () => process.exit())
const part = await loadPart(moduleUrl)
await part.measure(new TimingRecorder((message) => process.send?.(message)), parseSettings(settingsJson))
process.disconnect?.()

async function loadPart(url: string): Promise<PartModule> {
  const loaded: unknown = await import(url)
  if (isPartModule(loaded)) return loaded
  throw new Error(`${url} does not export a function 'measure'`)
}

function isPartModule(loaded: unknown): loaded is PartModule {
  return (
    typeof loaded === 'object' &&
    loaded !== null &&
    'measure' in loaded &&
    typeof loaded.measure === 'function'
  )
}

function parseSettings(json: string): Settings {
  const settings: unknown = JSON.parse(json)
  if (isSettings(settings)) return settings
  throw new Error(`these are no settings: ${json}`)
}

function isSettings(settings: unknown): settings is Settings {
  return typeof settings === 'object' && settings !== null && 'directory' in settings && 'engine' in settings
}
