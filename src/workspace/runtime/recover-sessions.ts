import { join } from 'node:path'
import { hasCarriedList, recoverCarriedFiles, waitForSessionEnd } from '../session/index.ts'
import { recoverForkSession } from './recover-fork-session.ts'
import { isThere, type RecoveredFork, recoverLeftForks } from './recover-left-forks.ts'
import { recoverVaultSession } from './recover-vault-session.ts'
import type { SessionRecord } from './session-record.ts'
import type { WorkspaceHome } from './workspace-home.ts'

/**
 * Stores the changes of commands whose process was killed.
 * @param path directory of the home.
 */
export function recoverSessions(home: WorkspaceHome, path: string): Promise<RecoveredFork[]> {
  return recoverLeftForks<SessionRecord>(join(path, 'sessions'), async (files, record) => {
    const hasDirectory = 'vault' in record || isThere(record)
    if (!hasDirectory && !hasCarriedList(files.path)) return 'later'
    if (!(await waitForSessionEnd({ path: files.path, files: record.files }))) return 'later'
    // Also without the directory: an agent may have a new login.
    recoverCarriedFiles(files.path)
    if ('vault' in record) return recoverVaultSession({ home, path, tagged: files, record })
    return hasDirectory ? recoverForkSession(home, path, files, record) : 'later'
  })
}
