/**
 * Agents and skills as files: `agents/{name}/agent.yaml` with `instructions.md`, and `skills/{name}/SKILL.md`.
 * They are read from any number of file systems, such as a project's, a home's and the package's; the first counts.
 * Invariant: a name leads nowhere but to its own directory, and a file that is wrong is refused with its line.
 */
export { AgentShelf, type AgentSource, type ShelfEntry } from './agent-shelf.ts'
export { devicesOf, isDevicePath, splitTools } from './allowed-tools.ts'
export { assertName } from './name.ts'
export { parseSkill, type Skill, skillPath, skillText } from './skill.ts'
