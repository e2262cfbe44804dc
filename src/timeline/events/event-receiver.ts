import { WriteLock } from '../../workspace/link/index.ts'
import type { AgentEvent } from './agent-event.ts'
import { scanDirectory } from './scan-directory.ts'
import { TimelineFiles } from './timeline-files.ts'
import { toSettingsKey, UndoRules, type UndoSettings } from './undo-rules.ts'

/**
 * Saves an event and returns true, if nothing changed since the last one. Otherwise it returns false and saves nothing;
 * also before the first record, and after an undo that was killed. It reads no content and opens no store, because an
 * agent waits for it. It changes the working directory of the process.
 * @param process the agent's process, by which a killed one is recognised. See `findAgentProcess`.
 */
export async function receiveWithoutChange(
  recorded: { readonly home: string; readonly directory: string; readonly settings: UndoSettings },
  event: AgentEvent,
  process?: string,
): Promise<boolean> {
  const { home, directory, settings } = recorded
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
