import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { MemoryFs } from 'coppice'
import { deepAgentsBackend } from 'coppice/adapters/deepagents'
import { openHome } from 'coppice/store'
import { type BackendProtocolV2, type FileData, FilesystemBackend, StateBackend } from 'deepagents'
import { tree } from './deepagents-calls.ts'

/** A backend with the files of the tree, and its disposal. */
export interface Subject extends AsyncDisposable {
  readonly backend: BackendProtocolV2
  /** Called after each call, with its result. */
  settle(result: unknown): void
}

export async function overMemory(): Promise<Subject> {
  return subject(deepAgentsBackend(new MemoryFs({ ...tree })))
}

export async function overVault(): Promise<Subject> {
  const home = await openHome()
  const vault = await home.createVault('files')
  for (const [path, text] of Object.entries(tree)) await vault.write(path, text)
  return subject(deepAgentsBackend(vault), () => home.close())
}

export async function onDisk(): Promise<Subject> {
  const rootDir = await mkdtemp(join(tmpdir(), 'coppice-deepagents-'))
  for (const [path, text] of Object.entries(tree)) {
    await mkdir(dirname(join(rootDir, path)), { recursive: true })
    await writeFile(join(rootDir, path), text)
  }
  const backend = new FilesystemBackend({ rootDir, virtualMode: true })
  return subject(backend, () => rm(rootDir, { recursive: true }))
}

/** The state of an agent, with each update applied as the middleware applies it. */
export async function inState(): Promise<Subject> {
  const state: { files: Record<string, FileData> } = { files: {} }
  const backend = new StateBackend({ state })
  const settle = (result: unknown) => {
    if (!isUpdate(result)) return
    for (const [path, file] of Object.entries(result.filesUpdate)) {
      if (file === null) delete state.files[path]
      else state.files[path] = file
    }
  }
  for (const [path, text] of Object.entries(tree)) settle(backend.write(path, text))
  return { ...subject(backend), settle }
}

function subject(backend: BackendProtocolV2, end: () => Promise<void> = async () => {}): Subject {
  return { backend, settle: () => {}, [Symbol.asyncDispose]: end }
}

function isUpdate(result: unknown): result is { filesUpdate: Record<string, FileData | null> } {
  return typeof result === 'object' && result !== null && 'filesUpdate' in result
}
