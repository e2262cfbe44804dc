/** The user asked for something that makes no sense: told without a stack, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
