import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { openKernel } from '../../src/agent-kernel/index.ts'
import { openHome, type Vault } from '../../src/backends/vault/index.ts'
import { createJsonRequestFile, type Device, type ModelRequest } from '../../src/kernel/index.ts'
import { glob, readText } from '../../src/vfs/index.ts'
import type { ProjectFiles } from './fixtures.ts'
import { ScriptedModel } from './policy.ts'
import type { RepairTask } from './tasks.ts'

/** The default tools of a process that are about files; the comparison has no shell either. */
const FILE_TOOLS = ['file_read', 'file_grep', 'file_glob', 'vfs_list', 'write_file', 'file_edit']
const MAX_STEPS = 20

/** Variations of our side. */
export interface EvalOptions {
  /** True to offer all default tools of a process, not only those for files. */
  readonly allTools: boolean
  /** True for a model that reads each file as a whole before it edits it. */
  readonly careful: boolean
}

/** Runs a task as a process of the kernel, and writes its files to a directory. */
export async function runOurs(
  { intent, files }: RepairTask,
  directory: string,
  { allTools, careful }: EvalOptions,
): Promise<ScriptedModel> {
  const model = new ScriptedModel({ isCareful: careful })
  const path = await mkdtemp(join(tmpdir(), 'coppice-eval-'))
  const home = await openHome({ path })
  try {
    await importFiles(await home.createVault('project'), files)
    const kernel = await openKernel({
      home,
      providers: { rules: createDevice(model) },
      defaults: { provider: 'rules', maxSteps: MAX_STEPS, ...(!allTools && { tools: FILE_TOOLS }) },
    })
    const { pid } = await kernel.spawn({ intent, vault: 'project' })
    const { fork } = await kernel.wait(pid)
    await kernel.close()
    await exportFiles(await home.vault(fork ?? 'project'), directory)
    return model
  } finally {
    await home.close()
    await rm(path, { recursive: true })
  }
}

async function importFiles(vault: Vault, files: ProjectFiles): Promise<void> {
  for (const [file, text] of Object.entries(files)) {
    await vault.mkdir(`/${dirname(file)}`, { parents: true })
    await vault.write(`/${file}`, text)
  }
}

async function exportFiles(vault: Vault, directory: string): Promise<void> {
  for await (const { path } of glob(vault, '**/*')) {
    const target = join(directory, path)
    await mkdir(dirname(target), { recursive: true })
    await writeFile(target, await readText(vault, path))
  }
}

function createDevice(model: ScriptedModel): Device {
  const open = () =>
    createJsonRequestFile('/dev/llm/rules', async (body) => {
      const { system_prompt: system, tools, messages } = body as ModelRequest
      const texts = messages.filter(({ role }) => role !== 'assistant').map(({ content }) => content)
      const { calls, text } = model.answer({ system, tools, texts })
      const tool_calls = calls.map((call, index) => ({ id: `${texts.length}-${index}`, ...call }))
      return { content: text, tokens_used: 0, ...(calls.length > 0 && { tool_calls }) }
    })
  return { match: 'exact', open }
}
