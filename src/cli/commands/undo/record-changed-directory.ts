import { openHome } from '../../../backends/vault/index.ts'
import { readConfig } from '../../../config/index.ts'
import type { AgentEvent, UndoSettings } from '../../../timeline/events/index.ts'
import { Timeline } from '../../../timeline/index.ts'

/** Reads `[undo]` of the configuration. ConfigError. */
export async function readUndoSettings(home: string): Promise<UndoSettings> {
  return (await readConfig(home)).undo ?? {}
}

/** Records an event with the changes before it. Loaded on use: most events have none. */
export async function recordChangedDirectory(
  place: { readonly home: string; readonly directory: string; readonly settings: UndoSettings },
  event: AgentEvent,
  agent: string | undefined,
): Promise<void> {
  const { engine, durability } = await readConfig(place.home)
  const settings = {
    ...(engine !== undefined && { engine }),
    ...(durability !== undefined && { durability }),
  }
  const home = await openHome({ path: place.home, ...settings })
  try {
    const timeline = new Timeline(
      { path: place.home, open: async () => home },
      place.directory,
      place.settings,
    )
    await timeline.receive(event, agent)
  } finally {
    await home.close()
  }
}
