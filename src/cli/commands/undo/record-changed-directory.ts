import { openHome } from '../../../backends/vault/index.ts'
import { ConfigFile, readConfig } from '../../../config/index.ts'
import type { AgentEvent, RecordedDirectory, UndoSettings } from '../../../timeline/events/index.ts'
import { Timeline } from '../../../timeline/index.ts'

/** Parses `[undo]` of a configuration. ConfigError. */
export async function parseUndoSettings(file: string, text: string): Promise<UndoSettings> {
  return (await ConfigFile.parse(file, text)).config.undo ?? {}
}

/** Records an event with the changes before it. Loaded on use: before most events nothing changed. */
export async function recordChangedDirectory(
  target: RecordedDirectory,
  event: AgentEvent,
  { agent, mark }: { readonly agent: string | undefined; readonly mark: string | undefined },
): Promise<void> {
  const { engine, durability } = await readConfig(target.home)
  const settings = {
    ...(engine !== undefined && { engine }),
    ...(durability !== undefined && { durability }),
  }
  const home = await openHome({ path: target.home, ...settings })
  try {
    const timeline = new Timeline(
      { path: target.home, open: async () => home },
      target.directory,
      target.settings,
    )
    await timeline.receive(event, agent, mark)
  } finally {
    await home.close()
  }
}
