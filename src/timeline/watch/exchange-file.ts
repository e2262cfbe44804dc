import { renameSync, writeFileSync } from 'node:fs'

const OWNER_ONLY = 0o600

/** Writes a request or a response, which appears at once and whole. */
export function writeExchangeFile(path: string, content: unknown): void {
  const draft = `${path}.draft`
  writeFileSync(draft, JSON.stringify(content), { mode: OWNER_ONLY })
  renameSync(draft, path)
}
