import type { AgentEvent, AgentName, ReportedCall } from './agent-event.ts'
import { hasAgentEnded } from './agent-process.ts'

/** Sessions without an event for this long are forgotten. */
const SESSION_MS = 14 * 24 * 60 * 60_000

/** A call of a tool, with its place in the timeline. */
export interface TimelineCall {
  readonly agent: AgentName
  readonly session: string
  /** Number of the prompt, and of the call below it. */
  readonly prompt: number
  readonly number: number
  readonly tool: string
  readonly summary: string
}

/** A call that has begun and whose end was not reported yet. */
interface OpenCall extends TimelineCall, Pick<ReportedCall, 'id' | 'reach'> {}

interface AgentSession {
  readonly agent: AgentName
  /** The agent's process, if it is known. See `findAgentProcess`. */
  readonly process?: string | undefined
  /** Time of the last event, in milliseconds since the epoch. */
  readonly time: number
  /** Number of the current prompt; 0 before the first. */
  readonly prompt: number
  /** Number of the calls of this prompt so far. */
  readonly calls: number
  /** Calls that run. */
  readonly open: readonly OpenCall[]
}

/** The calls during which a change was made, as far as events say. */
export interface ChangeWindow {
  /** A call that ends with this event. */
  readonly ended?: OpenCall | undefined
  /** Other calls that ran until the event; some go on. */
  readonly running: readonly OpenCall[]
  /** Calls that ended without a report, at an unknown time. */
  readonly lost: readonly OpenCall[]
}

export interface SavedSessions {
  readonly nextPrompt: number
  readonly sessions: Readonly<Record<string, AgentSession>>
}

/** The sessions of agents in a directory: their current prompt, and the calls that run. */
export class AgentSessions {
  #nextPrompt: number
  readonly #sessions: Map<string, AgentSession>

  constructor({ nextPrompt, sessions }: SavedSessions = { nextPrompt: 1, sessions: {} }) {
    this.#nextPrompt = nextPrompt
    this.#sessions = new Map(Object.entries(sessions))
  }

  toJSON(): SavedSessions {
    const oldest = Date.now() - SESSION_MS
    const kept = [...this.#sessions].filter(([, { time }]) => time > oldest)
    return { nextPrompt: this.#nextPrompt, sessions: Object.fromEntries(kept) }
  }

  /**
   * Updates the sessions by an event, and returns the calls that can have made the changes since the last one.
   * @param process the agent's process. See `findAgentProcess`.
   */
  receive(event: AgentEvent, process: string | undefined): ChangeWindow {
    const lost = this.#dropDeadCalls()
    const session = this.#findOrCreate(event, process)
    // The end of a turn ends all of its calls. Codex reports no other end of some.
    if (event.kind === 'stop' || event.kind === 'session-end') {
      const [ended, ...others] = session.open
      const running = [...others, ...this.#listRunning(event.session)]
      this.#sessions.set(event.session, { ...session, open: [] })
      return { ended, running, lost }
    }
    if (event.kind === 'prompt' || event.kind === 'session-start') {
      const running = this.#listRunning(event.session)
      const started = event.kind === 'prompt' ? { prompt: this.#nextPrompt++, calls: 0 } : {}
      this.#sessions.set(event.session, { ...session, ...started, open: [] })
      return { running, lost: [...lost, ...session.open] }
    }
    return { ...this.#receiveCall(event, session), lost }
  }

  /**
   * Returns the calls that can have made the changes since the last event, for a command of a person. Forgets the calls
   * of killed agents.
   */
  receiveNothing(): ChangeWindow {
    return { lost: this.#dropDeadCalls(), running: this.#listRunning() }
  }

  getPrompt(session: string): number | undefined {
    return this.#sessions.get(session)?.prompt
  }

  #receiveCall(event: AgentEvent, before: AgentSession): Omit<ChangeWindow, 'lost'> {
    const running = this.#listRunning()
    const { call } = event
    if (call === undefined) return { running }
    const known = before.open.find(({ id }) => id === call.id)
    const session = this.#ensurePrompt(before)
    const { id, tool, summary, reach } = call
    const calls = known === undefined ? session.calls + 1 : session.calls
    const { agent, prompt } = session
    const opened = known ?? {
      agent,
      session: event.session,
      prompt,
      number: calls,
      id,
      tool,
      summary,
      reach,
    }
    const others = session.open.filter((each) => each !== known)
    const isEnd = event.kind === 'after-tool'
    this.#sessions.set(event.session, { ...session, calls, open: isEnd ? others : [...others, opened] })
    return isEnd ? { ended: opened, running: running.filter((each) => each !== known) } : { running }
  }

  /** Returns the session of an event, with its time and process. It is not saved. */
  #findOrCreate({ agent, session }: AgentEvent, process: string | undefined): AgentSession {
    const known = this.#sessions.get(session)
    const { prompt = 0, calls = 0, open = [] } = known ?? {}
    return { agent, prompt, calls, open, time: Date.now(), process: process ?? known?.process }
  }

  /** Gives a session a prompt if it has none: it was resumed, or began before the hooks. */
  #ensurePrompt(session: AgentSession): AgentSession {
    return session.prompt > 0 ? session : { ...session, prompt: this.#nextPrompt++, calls: 0 }
  }

  #listRunning(except?: string): OpenCall[] {
    return [...this.#sessions].flatMap(([id, { open }]) => (id === except ? [] : open))
  }

  /** Forgets the calls of agents that were killed, and returns them. */
  #dropDeadCalls(): OpenCall[] {
    return [...this.#sessions].flatMap(([id, session]) => {
      if (session.open.length === 0 || session.process === undefined || !hasAgentEnded(session.process))
        return []
      this.#sessions.set(id, { ...session, open: [] })
      return session.open
    })
  }
}
