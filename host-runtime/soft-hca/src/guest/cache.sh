# Sourced by the guest scripts: where what is built once for them is kept, and what they have in common.
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

# Prints the script that a guest runs: the command that the arguments are, then the end of the guest.
guest_command() {
  echo 'export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8'
  printf '%q ' "$@"
  echo
  echo 'echo $? >/run/out/status'
  echo 'busybox sync; busybox poweroff -f'
}
