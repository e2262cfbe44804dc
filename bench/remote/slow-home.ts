import { setTimeout as delay } from 'node:timers/promises'
import { Home } from '../../src/backends/vault/index.ts'
import { type Engine, PostgresEngine, StoreHome } from '../../src/store/index.ts'

const ADDED_MS = 1

/** A home on a network that takes a millisecond. */
interface SlowHome extends AsyncDisposable {
  readonly home: Home
  /** Number of statements so far. */
  calls(): number
}

/** Opens a home whose statements take a millisecond longer, and counts them. */
export async function openSlowHome(url: string): Promise<SlowHome> {
  const engine = await PostgresEngine.open({ url })
  let calls = 0
  const slow = new Proxy<Engine>(engine, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      // A count that is known costs no statement.
      if (name === 'changeCount' || name === 'expireChangeCount' || name === 'close')
        return member.bind(target)
      return async (...args: unknown[]) => {
        calls++
        await delay(ADDED_MS)
        return member.apply(target, args)
      }
    },
  })
  const home = new Home(new StoreHome(slow))
  return { home, calls: () => calls, [Symbol.asyncDispose]: () => home.close() }
}
