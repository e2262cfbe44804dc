import { fileEdit } from './edit/file-edit.ts'
import { fileGlob } from './files/file-glob.ts'
import { fileGrep } from './files/file-grep.ts'
import { fileHead, fileLines } from './files/file-lines.ts'
import { fileRead } from './files/file-read.ts'
import { fileTail } from './files/file-tail.ts'
import { writeFile } from './files/write-file.ts'
import { vfsDelete } from './names/vfs-delete.ts'
import { vfsInfo } from './names/vfs-info.ts'
import { vfsList } from './names/vfs-list.ts'
import { vfsMkdir } from './names/vfs-mkdir.ts'
import { vfsCopy, vfsMove } from './names/vfs-transfer.ts'
import type { Tool } from './tool.ts'
import type { ToolEnvironment } from './tool-environment.ts'
import { shellExec } from './workspace-tools/shell-exec.ts'
import { workspaceDiff, workspaceMerge } from './workspace-tools/workspace-changes.ts'
import {
  workspaceCheckpoint,
  workspaceFork,
  workspaceRestore,
} from './workspace-tools/workspace-checkpoints.ts'
import { workspaceLog } from './workspace-tools/workspace-log.ts'

/** Tools of every namespace, in the order of the list. */
export const fileTools: readonly Tool[] = [
  fileRead,
  fileHead,
  fileTail,
  fileLines,
  fileGrep,
  fileGlob,
  writeFile,
  fileEdit,
  vfsList,
  vfsInfo,
  vfsCopy,
  vfsMove,
  vfsMkdir,
  vfsDelete,
]

/** Tools of a namespace with a workspace. */
export const workspaceTools: readonly Tool[] = [
  workspaceFork,
  workspaceCheckpoint,
  workspaceDiff,
  workspaceRestore,
  workspaceMerge,
  workspaceLog,
]

/** Tools of a workspace that can run commands. */
export const commandTools: readonly Tool[] = [shellExec]

/** Lists the tools that an environment supports. */
export function listTools({ workspace }: ToolEnvironment): readonly Tool[] {
  if (workspace === undefined) return fileTools
  return [...fileTools, ...workspaceTools, ...(workspace.exec === undefined ? [] : commandTools)]
}
