# Completion of shiplap in bash. The program itself says what can follow.
_shiplap() {
  # Bash splits words at ':' and '='. A word that continues another one follows it without a space.
  local words=() word line before="" i
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if ((${#words[@]})) && [[ $word == [:=]* || $before == *[:=] ]]; then
      words[-1]+=$word
    else
      words+=("$word")
    fi
    before=${words[-1]}
  done
  word=${words[-1]}
  COMPREPLY=()
  while IFS= read -r line; do
    line=${line%%$'\t'*}
    # What is inserted replaces the part behind the last separator only.
    [[ $line == "$word"* ]] && COMPREPLY+=("${line#"${word%"${word##*[:=]}"}"}")
  done < <("${COMP_WORDS[0]}" complete -- "${words[@]}" 2>/dev/null)
}
complete -o bashdefault -o default -F _shiplap shiplap
