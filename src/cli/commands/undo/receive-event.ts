import { readFileSync } from 'node:fs'
import { isErrno } from '../../../machine/index.ts'
import { Redactor } from '../../../secrets/index.ts'
import {
  type AgentEvent,
  type AgentName,
  agentNames,
  findAgentProcess,
  parseAgentEvent,
  receiveWithoutChange,
  TimelineFiles,
} from '../../../timeline/events/index.ts'
import { findHomePath } from '../../access/home-path.ts'
import { findEventProject, findRecordingProblem } from '../../access/project-directory.ts'
import { askWatches } from './ask-watches.ts'
import { readUndoSettings } from './undo-settings.ts'

/**
 * Records the event of an agent that is on standard input. Never throws and never prints: an agent would take output as
 * an answer, and a failure as a refusal. `coppice timeline` lists failures, except those before the project is known.
 */
export async function receiveEvent(
  agentName: string | undefined,
  homeOption: string | undefined,
): Promise<void> {
  const agent = agentNames.find((name) => name === agentName)
  if (agent === undefined) return
  // In a session of `coppice exec`, all changes are in a fork, and the home is hidden.
  if (process.env['COPPICE_WORKSPACE']) return
  let files: TimelineFiles | undefined
  try {
    const home = findHomePath(homeOption)
    const event = parseAgentEvent(agent, await readInput())
    if (home === undefined || event === undefined) return
    const directory = findEventProject(home, event.directory)
    files = new TimelineFiles(home, directory)
    const problem = findRecordingProblem(directory)
    if (problem === undefined) await recordInProject({ home, directory }, redactEvent(event))
    // Once for each prompt, not for each event.
    else if (event.kind === 'prompt') noteFailure(files, agent, problem)
  } catch (error) {
    noteFailure(files, agent, error instanceof Error ? error.message : String(error))
  }
}

async function recordInProject(
  { home, directory }: { readonly home: string; readonly directory: string },
  event: AgentEvent,
): Promise<void> {
  const project = { home, directory, settings: await readUndoSettings(home) }
  const agent = findAgentProcess(process.ppid)
  const { isSaved, mark } = await receiveWithoutChange(project, event, {
    process: agent,
    ask: (question) => askWatches(home, question),
  })
  if (isSaved) return
  // Loaded only now: the agent waits for this program.
  const { recordChangedDirectory } = await import('./record-changed-directory.ts')
  await recordChangedDirectory(project, event, { agent, mark })
}

/** Reads all of standard input. */
async function readInput(): Promise<string> {
  try {
    return readFileSync(0, 'utf8')
  } catch (error) {
    // The agent's pipe is non-blocking, and has no bytes yet.
    if (!isErrno(error, 'EAGAIN')) throw error
  }
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString()
}

/** Removes secrets from the prompt and the summary of the call. */
function redactEvent(event: AgentEvent): AgentEvent {
  const { prompt, call } = event
  if (prompt === undefined && call === undefined) return event
  const redactor = new Redactor(process.env)
  return {
    ...event,
    ...(prompt !== undefined && { prompt: redactor.redactText(prompt) }),
    ...(call !== undefined && { call: { ...call, summary: redactor.redactText(call.summary) } }),
  }
}

function noteFailure(files: TimelineFiles | undefined, agent: AgentName, message: string): void {
  try {
    files?.addNote({ kind: 'failure', time: Date.now(), agent, message })
  } catch {
    // The home cannot be written: the failure is lost.
  }
}
