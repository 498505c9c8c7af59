# Completion of llrun for bash.  It keeps no list of its own: options are those of `llrun --help`, sections, keys and values
# those of `llrun --keys`, policies those in the directories where llrun says that it has looked.
# shellcheck shell=bash disable=SC2207 # COMPREPLY=($(compgen)) is the idiom; no candidate holds a blank that is not escaped

# LETTER LONG ARGUMENT of each option; "-" for none.
_llrun_options() {
	"$1" --help 2>/dev/null | sed -nE 's/^  (-(.),|   ) (--[a-z-]+)( ([A-Z][A-Z.=|]*))? .*/\2 \3 \5/p' |
		sed 's/^ /- /; s/ $/ -/'
}

_llrun_policies() {
	local directory
	"$1" -p '(none)' true 2>&1 | sed -n "s/^llrun: no policy.* looked for (none)\.policy in //p" | sed 's/, /\n/g' |
		while read -r directory; do
			(cd "$directory" 2>/dev/null && printf '%s\n' *.policy)
		done | sed -n '/^\*/d; s/\.policy$//p'
}

# KEY WORD... for each key of a kind of section (Process, Thread, Socket): the words that it can have.
_llrun_keys() {
	"$1" --keys 2>/dev/null | sed -n "/^\[$2/,/^\$/s/^  \([A-Z][A-Za-z]*\)= *\(.*[^ ]\)  *default .*/\1 \2/p" |
		sed '/ .*[^a-z ]/s/ .*//'
}

# SECTION.KEY=VALUE: the part before $text stays as it is.
_llrun_setting() {
	local llrun=$1 text=$2 kind=${2%%[. ]*}
	compopt -o nospace
	if [[ $text =~ \.([A-Z][A-Za-z]*)=([a-z]*)$ ]]; then
		compopt +o nospace
		COMPREPLY=($(compgen -W "$(_llrun_keys "$llrun" "$kind" | sed -n "s/^${BASH_REMATCH[1]} //p")" -- "${BASH_REMATCH[2]}"))
		COMPREPLY=("${COMPREPLY[@]/#/${text%=*}=}")
	elif [[ $text == *.* ]]; then
		COMPREPLY=($(compgen -S = -W "$(_llrun_keys "$llrun" "$kind" | sed 's/ .*//')" -- "${text##*.}"))
		COMPREPLY=("${COMPREPLY[@]/#/${text%.*}.}")
	elif [[ $text != *' '* ]]; then # after that stands a selector, which may be anything
		COMPREPLY=($(compgen -W "$("$llrun" --keys 2>/dev/null | sed -n 's/^\[\([A-Z][a-z]*\)\]/\1./p; s/^\[\([A-Z][a-z]*\) .*/\1_/p')" \
			-- "$text"))
		COMPREPLY=("${COMPREPLY[@]/%_/ }")
	fi
}

_llrun() {
	local llrun=${COMP_WORDS[0]} words=() place=() options letter long argument wanted='' word cur text quote='' i
	# bash breaks words at '=' and ':'; what belongs together is put together, `place` is where it began.
	for ((i = 0; i <= COMP_CWORD; i++)); do
		if ((${#words[@]})) && [[ ${COMP_WORDS[i]} == [=:]* || (${words[-1]} == *[=:] && i -gt 1) ]]; then
			words[-1]+=${COMP_WORDS[i]}
		else
			words+=("${COMP_WORDS[i]}") place+=("$i")
		fi
	done
	cur=${words[-1]}
	options=$(_llrun_options "$llrun")

	# Where does the program stand, and does the option before the cursor want an argument?
	for ((i = 1; i < ${#words[@]} - 1; i++)); do
		word=${words[i]}
		if [[ $wanted ]]; then
			wanted=''
		elif [[ $word == -- ]]; then
			i=$((i + 1))
			break
		elif [[ $word != -* ]]; then
			break
		else
			while read -r letter long argument; do # -c CPUS, -wc CPUS, --cpus CPUS; but -c0-3 has its argument
				[[ $argument != - && ($word == "$long" || ($word != --* && $word == *"$letter")) ]] && wanted=$argument
			done <<<"$options"
		fi
	done
	if [[ -z $wanted && ($i -lt $((${#words[@]} - 1)) || ${words[-2]} == -- || $cur != -*) ]]; then
		if declare -F _command_offset >/dev/null; then
			_command_offset "${place[i]}"
		elif ((i < ${#words[@]} - 1)); then
			compopt -o default
		else
			COMPREPLY=($(compgen -c -- "$cur"))
			[[ $cur != */* ]] || COMPREPLY=($(compgen -f -- "$cur"))
		fi
		return
	fi

	text=$cur
	if [[ $cur == --*=* ]]; then
		wanted=$(awk -v long="${cur%%=*}" '$2 == long { print $3 }' <<<"$options")
		text=${cur#*=}
	fi
	[[ $text != [\'\"]* ]] || quote=${text:0:1} text=${text:1}
	text=${text//\\/}
	case $wanted in
	'') COMPREPLY=($(compgen -W "$(awk '{ if ($1 != "-") print "-" $1; print $2 }' <<<"$options")" -- "$cur")) ;;
	NAME)
		if [[ $text == */* ]]; then
			compopt -o default
		else
			COMPREPLY=($(compgen -W "$(_llrun_policies "$llrun")" -- "$text"))
		fi
		;;
	SECTION*) _llrun_setting "$llrun" "$text" ;;
	PID*) COMPREPLY=($(compgen -W "$(ps -eo pid=,comm= | sed -n 's/^ *\([0-9]*\) \([^ ]*\)$/\1 \2/p')" -- "$text")) ;;
	esac
	if [[ -z $quote ]]; then
		COMPREPLY=("${COMPREPLY[@]// /\\ }")
		# The reply is for the last piece of the word only.
		[[ $text != *=* || $COMP_WORDBREAKS != *=* ]] || COMPREPLY=("${COMPREPLY[@]##*=}")
	fi
}
complete -F _llrun llrun
