/**
 * Agents and skills as files: `agents/{name}/agent.yaml` with `instructions.md`, and `skills/{name}/SKILL.md`.
 * They are read from any number of file systems, such as a project's, a home's and the package's; the first wins.
 * Invariant: a name resolves only to its own directory, and a malformed file is refused with its line.
 */
export { AgentCatalog, type AgentSource, type CatalogEntry } from './agent-catalog.ts'
export { assertName } from './agent-name.ts'
export { isDevicePath, splitTools, toDevicePaths } from './allowed-tools.ts'
export { formatSkill, getSkillPath, parseSkill, type Skill } from './skill.ts'
