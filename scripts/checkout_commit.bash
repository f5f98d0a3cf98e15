# Sourced: sets `commit` to the commit that is checked out in the folder $root, or to "unknown" where it is no git
# checkout. Reads git's files itself, since scripts/torchmem does this at every run.
commit=unknown
if [[ -f $root/.git/HEAD ]]; then
  commit=$(<"$root/.git/HEAD")
  if [[ $commit == "ref: "* ]]; then
    reference=${commit#ref: }
    commit=unknown
    if [[ -f $root/.git/$reference ]]; then
      commit=$(<"$root/.git/$reference")
    elif [[ -f $root/.git/packed-refs ]]; then
      while read -r packed name; do
        [[ $name == "$reference" ]] && commit=$packed
      done <"$root/.git/packed-refs"
    fi
  fi
elif [[ -e $root/.git ]]; then
  commit=$(git -C "$root" rev-parse HEAD 2>/dev/null) || commit=unknown
fi
