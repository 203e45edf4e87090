# Completion for bash. What there is to complete, the programs say themselves.

# The line up to the cursor, by blanks: = and : do not part words here as they do in COMP_WORDS.
_flitwarp_words() {
    local line=${COMP_LINE:0:COMP_POINT}
    read -ra words <<<"$line"
    case $line in *[[:blank:]]) words+=("") ;; esac
    word=${words[-1]}
}

# Bash replaces only what follows the last = of the word.
_flitwarp_reply() {
    local before=""
    case $word in *=*) [[ $COMP_WORDBREAKS != *=* ]] || before=${word%"${word##*=}"} ;; esac
    COMPREPLY=("${@#"$before"}")
    case ${1-} in *[.=]) compopt -o nospace ;; esac
}

_flitwarp() {
    local words word found
    _flitwarp_words
    mapfile -t found < <("$1" complete -- "${words[@]:1}" 2>/dev/null)
    _flitwarp_reply "${found[@]}"
}

# Of the tools in Python: words that their help tells, those of a figure's kind too.
_flitwarp_tool() {
    local words word found kind=()
    _flitwarp_words
    [[ ${#words[@]} -le 2 || ${words[1]} == -* || $1 != *plot ]] || kind=("${words[1]}")
    if [[ $word == -* ]]; then
        mapfile -t found < <("$1" "${kind[@]}" --help 2>/dev/null | grep -oE -- '(^|[[ ,])--[a-z][a-z-]*' | tr -d '[ ,' | sort -u)
    elif [[ ${#words[@]} -eq 2 && $1 == *plot ]]; then
        mapfile -t found < <("$1" --help 2>/dev/null | sed -n 's/^  \([a-z-]*\) .*/\1/p')
    else
        return
    fi
    mapfile -t COMPREPLY < <(compgen -W "${found[*]}" -- "$word")
}

complete -o default -F _flitwarp flitwarp
complete -o default -F _flitwarp_tool flitwarp-sweep flitwarp-plot
