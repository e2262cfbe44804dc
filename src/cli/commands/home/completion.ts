import { type Command, defineCommand } from '../../framework/command.ts'
import { completionScripts, shells } from './completion-scripts.ts'

export const completion: Command = defineCommand(
  {
    name: 'completion',
    summary: 'Print the completion script of a shell',
    details: 'It completes commands, options, names of vaults and checkpoints, and paths in a vault.',
    scope: 'none',
    arguments: { shell: { summary: 'The shell', choices: shells } },
    examples: [
      'eval "$(coppice completion bash)"      # in ~/.bashrc',
      'eval "$(coppice completion zsh)"       # in ~/.zshrc',
      'coppice completion fish | source       # in config.fish',
    ],
  },
  async (call) => {
    const shell = call.argument('shell')
    const script = Object.entries(completionScripts).find(([name]) => name === shell)?.[1] ?? ''
    await call.output.writeValue({ shell, script }, script.trimEnd())
  },
)
