import type { Engine } from '../../src/store/index.ts'

export type EngineCall = Exclude<keyof Engine, 'name' | symbol>

/** What stands between a store and its engine. */
export interface Tap {
  /** Before each call; what it throws, the engine is said to have thrown. */
  readonly before?: (call: EngineCall, args: readonly unknown[]) => void
  /** What the store gets instead of the engine's answer. */
  readonly after?: (call: EngineCall, args: readonly unknown[], answer: unknown) => unknown
}

/** An engine whose calls can be counted, failed or falsified on their way. */
export function tapEngine(engine: Engine, { before, after }: Tap): Engine {
  return new Proxy(engine, {
    get: (target, name) => {
      const member = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      if (!isTapped(name)) return member.bind(target)
      return (...args: unknown[]) => {
        before?.(name, args)
        const answer = member.apply(target, args)
        if (after === undefined) return answer
        return answer instanceof Promise
          ? answer.then((value) => after(name, args, value))
          : after(name, args, answer)
      }
    },
  })
}

function isTapped(name: string | symbol): name is EngineCall {
  return typeof name === 'string' && name !== 'close'
}
