import { WriteLock } from '../../workspace/link/index.ts'
import type { AgentEvent } from './agent-event.ts'
import { scanDirectory } from './scan-directory.ts'
import { TimelineFiles } from './timeline-files.ts'
import { toSettingsKey, UndoRules, type UndoSettings } from './undo-rules.ts'

/**
 * Takes an event if nothing changed since the last one; false otherwise, and nothing is written then. It reads no
 * content and opens no store, because an agent waits for it. It changes the working directory of the process.
 * @param process the agent's process, by which a killed one is recognised. See `findAgentProcess`.
 */
export async function receiveWithoutChange(
  place: { readonly home: string; readonly directory: string; readonly settings: UndoSettings },
  event: AgentEvent,
  process?: string,
): Promise<boolean> {
  const { home, directory, settings } = place
  using _lock = await WriteLock.acquire(home, directory)
  const files = new TimelineFiles(home, directory)
  const { sessions, stage } = files.readState()
  const index = files.readIndex(toSettingsKey(settings))
  if (stage !== undefined || index.takenAt === 0) return false
  const rules = new UndoRules(directory, settings, [home])
  const { touched } = scanDirectory(directory, index, rules, { canChangeDirectory: true })
  if (touched.length > 0) return false
  sessions.receive(event, process)
  files.finishEvent(event, sessions)
  return true
}
