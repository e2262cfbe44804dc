import type { Profile } from '../../profiles/index.ts'
import { escapeName } from '../../text/index.ts'

const MODE_NOTES = { read: 'read', copy: "the fork's own copy", share: 'shared' } as const

/** Formats what a profile gives to a command, as lines of a notice. */
export function formatProfileNotice({ name, args, paths, env, sockets, hosts }: Profile): string[] {
  const byMode = (['read', 'copy', 'share'] as const).flatMap((mode) => {
    const shown = paths.filter((path) => path.mode === mode).map(({ path }) => escapeName(`~/${path}`))
    return shown.length === 0 ? [] : [`  ${MODE_NOTES[mode]}: ${shown.join(', ')}`]
  })
  return [
    `profile ${name} is in use (coppice profile show ${name}); this is shown once`,
    ...(args.length === 0 ? [] : [`  arguments before yours: ${escapeName(args.join(' '))}`]),
    ...byMode,
    ...(env.length === 0 ? [] : [`  variables: ${env.join(', ')}`]),
    ...(sockets.length === 0 ? [] : [`  sockets of: ${sockets.join(', ')}`]),
    ...(hosts.length === 0 ? [] : [`  hosts: ${hosts.join(', ')}`]),
  ]
}
