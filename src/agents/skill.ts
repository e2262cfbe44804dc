import { Document, parseDocument } from 'yaml'
import { z } from 'zod'
import { isValidName } from './agent-name.ts'
import { splitTools } from './allowed-tools.ts'
import { createYamlError, parseYaml } from './yaml-file.ts'

/** A skill in the Agent Skills format. */
export interface Skill {
  readonly name: string
  /** Purpose of the skill, and when to use it. */
  readonly description: string
  readonly license?: string | undefined
  readonly compatibility?: string | undefined
  readonly metadata: Readonly<Record<string, string>>
  /** Allowed tools as written; null if none are declared. */
  readonly allowedTools: readonly string[] | null
  readonly body: string
}

const KEYS = ['name', 'description', 'license', 'compatibility', 'metadata', 'allowed-tools']
const FRONT_MATTER = /^---[ \t]*\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n|$)/m

const tools = z.union([z.string().transform(splitTools), z.array(z.string().trim().min(1))])

/** Unknown keys are ignored, so that skills of other programs work. */
const frontMatter = z.object({
  name: z
    .string()
    .refine(isValidName, 'must be lower-case letters, digits and single hyphens in between, 64 at most'),
  description: z.string().trim().min(1).max(1024),
  license: z.string().optional(),
  compatibility: z.string().max(500).optional(),
  metadata: z.record(z.string(), z.coerce.string()).default({}),
  'allowed-tools': tools.nullish(),
})

/** Returns the path of a skill in its file system. */
export function getSkillPath(name: string): string {
  return `/skills/${name}/SKILL.md`
}

/** Parses a skill's file. EINVAL with the line, also if it has another name than its directory. */
export function parseSkill(text: string, path: string, name: string): Skill {
  const match = text.replace(/^\ufeff/, '').match(FRONT_MATTER)
  if (match?.index !== 0) {
    throw createYamlError(
      { path },
      1,
      `a skill must begin with front matter between two lines of ---; valid keys: ${KEYS.join(', ')}`,
    )
  }
  const [whole, yaml = ''] = match
  const front = parseYaml(yaml, frontMatter, KEYS, { path, linesAbove: 1 })
  if (front.name !== name) {
    throw createYamlError(
      { path },
      findNameLine(yaml),
      `the name '${front.name}' differs from the directory '${name}'; make them equal`,
    )
  }
  const { 'allowed-tools': allowedTools = null, ...rest } = front
  return {
    ...rest,
    allowedTools: allowedTools ?? null,
    body: text
      .replace(/^\ufeff/, '')
      .slice(whole.length)
      .trim(),
  }
}

/** Changes of a skill; absent fields stay as they are. */
export interface SkillChange {
  readonly name: string
  readonly description?: string | undefined
  readonly allowedTools?: readonly string[] | undefined
  readonly body?: string | undefined
}

/** Formats a skill's file, new or from an older text, whose other keys and comments it preserves. */
export function formatSkill(
  { name, description, allowedTools, body }: SkillChange,
  old = '---\n---\n',
): string {
  const [whole = '', yaml = ''] = old.match(FRONT_MATTER) ?? []
  const document: Document = yaml === '' ? new Document({}) : parseDocument(yaml)
  document.set('name', name)
  if (description !== undefined) document.set('description', description)
  if (allowedTools !== undefined) document.set('allowed-tools', allowedTools.join(' '))
  const text = body ?? old.slice(whole.length)
  return `---\n${document.toString({ lineWidth: 0 })}---\n\n${text.trim()}\n`
}

function findNameLine(yaml: string): number {
  return yaml.split('\n').findIndex((line) => line.startsWith('name')) + 2
}
