/** Shells for which there is a completion script. */
export const shells = ['bash', 'zsh', 'fish'] as const

/**
 * Scripts that the shells evaluate. They pass the words so far to `coppice __complete`. It prints one candidate a
 * line with its summary behind a tab, or `:files` to let the shell complete files.
 */
export const completionScripts: Readonly<Record<(typeof shells)[number], string>> = {
  bash: `# Completion of coppice for bash. Put into ~/.bashrc:  eval "$(coppice completion bash)"
_coppice() {
  COMPREPLY=()
  local word summary
  while IFS=$'\\t' read -r word summary; do
    if [[ $word == :files ]]; then
      compopt -o default
      return
    fi
    [[ $word == */ ]] && compopt -o nospace
    COMPREPLY+=("$(printf '%q' "$word")")
  done < <(coppice __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _coppice coppice
`,
  zsh: `#compdef coppice
# Completion of coppice for zsh. Put into ~/.zshrc, after compinit:  eval "$(coppice completion zsh)"
_coppice() {
  local word summary
  local -a plain directories
  while IFS=$'\\t' read -r word summary; do
    if [[ $word == :files ]]; then
      _files
      return
    fi
    if [[ $word == */ ]]; then
      directories+=("$word")
    else
      plain+=("\${word//:/\\\\:}:$summary")
    fi
  done < <(coppice __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)
  local found=1
  (( $#directories )) && compadd -S '' -- $directories && found=0
  (( $#plain )) && _describe 'coppice' plain && found=0
  return found
}
compdef _coppice coppice
`,
  fish: `# Completion of coppice for fish. Put into ~/.config/fish/config.fish:  coppice completion fish | source
function __coppice_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l answer (coppice __complete $words[2..-1] "$current" 2>/dev/null)
  if test "$answer[1]" = ':files'
    __fish_complete_path "$current"
  else if set -q answer[1]
    printf '%s\\n' $answer
  end
end
complete -c coppice -f -a '(__coppice_complete)'
`,
}
