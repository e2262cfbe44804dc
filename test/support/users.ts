import { whyNotNobody } from './tools.ts'

const NOBODY = 65_534

/** Users who run the program in a test: `undefined` is the current one. */
export const users: readonly {
  readonly name: string
  readonly user: number | undefined
  readonly obstacle: string | undefined
}[] = [
  { name: 'the current user', user: undefined, obstacle: undefined },
  { name: 'an ordinary user', user: NOBODY, obstacle: whyNotNobody() },
]
