# Sourced by the guest scripts: where what is built once for them is kept.
# A kernel outlives `mvn clean`, so it stands in the user's cache, not under target/.
guest_cache() {
  printf '%s\n' "${DOORBELL_GUEST_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/doorbell/guest}"
}

need() {
  local tool missing=()
  for tool in "$@"; do command -v "$tool" >/dev/null || missing+=("$tool"); done
  if ((${#missing[@]})); then
    printf 'missing: %s; on Debian: apt-get install -y --no-install-recommends %s\n' "${missing[*]}" "$PACKAGES" >&2
    exit 4
  fi
}
