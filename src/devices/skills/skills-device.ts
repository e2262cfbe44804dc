import { z } from 'zod'
import {
  type AgentCatalog,
  assertName,
  formatSkill,
  getSkillPath,
  isDevicePath,
  parseSkill,
  splitTools,
} from '../../agents/index.ts'
import type { Device } from '../../kernel/index.ts'
import { dirname, type FileSystem, isVfsError, VfsError } from '../../vfs/index.ts'
import { defineOperation, operationDevice } from '../operation/index.ts'
import { findOrigin, type ListOrigins, scanText } from '../scanner/index.ts'
import { changeText } from '../stored/index.ts'

const PATH = '/dev/skills/manage'
const MAX_BODY_CHARACTERS = 50_000

export interface SkillsOptions {
  /** File system to create skills in, at `/skills`. */
  readonly fs: FileSystem
  /** Catalog of all skills, including those from elsewhere. */
  readonly catalog: Pick<AgentCatalog, 'skill'>
  /** Texts that tools and pages returned to a process. A skill that repeats them is scanned as foreign text. */
  readonly listOrigins?: ListOrigins
}

const manageRequest = z.strictObject({
  action: z.enum(['create', 'patch', 'delete']),
  name: z.string().describe('Lower-case words with hyphens, such as release-notes.'),
  description: z.string().trim().min(1).max(1024).optional().describe('What it does and when to use it.'),
  allowed_tools: z
    .string()
    .transform(splitTools)
    .refine((tools) => tools.every(isDevicePath), 'paths of devices with spaces in between')
    .optional()
    .describe('The devices it needs, such as "/dev/fs /dev/shell".'),
  body: z
    .string()
    .trim()
    .min(1)
    .max(MAX_BODY_CHARACTERS)
    .optional()
    .describe('The instructions, as Markdown.'),
})

type ManageRequest = z.output<typeof manageRequest>

/** Creates the device that creates, changes and deletes skills. */
export function skillsDevice(options: SkillsOptions): Device {
  return operationDevice(
    PATH,
    'skill_manage',
    defineOperation({
      description:
        'Creates, patches or deletes a skill: instructions that any agent can use later. Patch changes only the given fields.',
      schema: manageRequest.superRefine(assertComplete),
      run: async (request, { ctx: { pid } }) => {
        assertName('skill', request.name)
        if (request.action === 'delete') await removeSkill(request.name, options)
        else await writeSkill(request, options, pid)
        return { ok: true, message: `${actionResults[request.action]} ${getSkillPath(request.name)}` }
      },
    }),
  )
}

const actionResults = { create: 'created', patch: 'changed', delete: 'deleted' } as const

function assertComplete({ action, description, body }: ManageRequest, issues: z.RefinementCtx): void {
  if (action !== 'create') return
  for (const [name, value] of Object.entries({ description, body }))
    if (value === undefined) issues.addIssue({ code: 'custom', path: [name], message: 'required for create' })
}

async function writeSkill(
  { action, name, description, allowed_tools: allowedTools, body }: ManageRequest,
  { fs, catalog, listOrigins = () => [] }: SkillsOptions,
  pid: number,
): Promise<void> {
  const path = getSkillPath(name)
  const isElsewhere = !(await fs.exists(path)) && (await isKnownSkill(name, catalog))
  if (isElsewhere) throw createReadOnlyError(name)
  const origin = findOrigin(`${description ?? ''}\n${body ?? ''}`, listOrigins(pid))
  await changeText(fs, path, (old) => {
    if (action === 'create' && old !== null) throw createExistsError(name)
    if (action === 'patch' && old === null) throw createMissingError(name)
    const text = formatSkill({ name, description, allowedTools, body }, old ?? undefined)
    const skill = parseSkill(text, path, name)
    assertHarmless(path, `${skill.description}\n\n${skill.body}`, origin)
    return text
  })
}

async function removeSkill(name: string, { fs, catalog }: SkillsOptions): Promise<void> {
  if (await fs.exists(getSkillPath(name))) return fs.remove(dirname(getSkillPath(name)), { recursive: true })
  throw (await isKnownSkill(name, catalog)) ? createReadOnlyError(name) : createMissingError(name)
}

/** Reports whether a skill exists, even if it cannot be loaded. */
async function isKnownSkill(name: string, catalog: SkillsOptions['catalog']): Promise<boolean> {
  try {
    await catalog.skill(name)
    return true
  } catch (error) {
    return !isVfsError(error, 'ENOENT')
  }
}

function assertHarmless(path: string, text: string, origin: string | undefined): void {
  const found = scanText(text, { isForeign: origin !== undefined })
  if (found === undefined) return
  const from = origin === undefined ? '' : ` and comes from ${origin}`
  const detail = `${found.kind}: the skill was not written, since ${found.says}${from}`
  throw new VfsError('EPERM', path, { op: 'skill_manage', detail })
}

function createExistsError(name: string): VfsError {
  const detail = `the skill '${name}' exists; patch it, or choose another name`
  return new VfsError('EEXIST', getSkillPath(name), { op: 'create', detail })
}

function createMissingError(name: string): VfsError {
  return new VfsError('ENOENT', getSkillPath(name), {
    op: 'skill_manage',
    detail: `there is no skill '${name}'`,
  })
}

function createReadOnlyError(name: string): VfsError {
  const detail = `skill '${name}' comes with the package or the project and cannot be changed here; choose another name`
  return new VfsError('EROFS', getSkillPath(name), { op: 'skill_manage', detail })
}
